// Rejections of the SDK that nothing handles. It leaves them to a program, whose process they end; in this process they are the error of
// the components under way. Others follow the first one, when the engine has ended the run: they must not end the creates under way.
const underWay = new Set<(reason: unknown) => void>();
let isWatching = false;
let hasFailed = false;

export const withRejections = async <T>(construct: () => Promise<T>): Promise<T> => {
  if (!isWatching) process.on("unhandledRejection", failAll);
  isWatching = true;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  underWay.add(failed.reject);
  try {
    return await Promise.race([construct(), failed.promise]);
  } catch (error) {
    hasFailed = true;
    throw error;
  } finally {
    underWay.delete(failed.reject);
  }
};

const failAll = (reason: unknown): void => {
  for (const fail of underWay) fail(reason);
  // A defect elsewhere ends the process, as it does without a component.
  if (underWay.size === 0 && !hasFailed) throw reason;
};
