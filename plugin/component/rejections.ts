// Rejections of the SDK that nothing handles. It leaves them to a program, whose process they end; in this process they are the error of
// the components under way.
export const withRejections = async <T>(construct: () => Promise<T>): Promise<T> => {
  const failed = Promise.withResolvers<never>();
  const fail = (reason: unknown): void => failed.reject(reason);
  failed.promise.catch(() => undefined);
  underWay.add(fail);
  if (underWay.size === 1) process.on("unhandledRejection", failAll);
  try {
    return await Promise.race([construct(), failed.promise]);
  } finally {
    underWay.delete(fail);
    // Those of the same error that come later have been reported then.
    if (underWay.size === 0) setImmediate(() => underWay.size === 0 && process.off("unhandledRejection", failAll));
  }
};

const underWay = new Set<(reason: unknown) => void>();

const failAll = (reason: unknown): void => {
  for (const fail of underWay) fail(reason);
};
