// What a test expects to fail, and with which error.
export const errorOf = <E = Error>(run: () => unknown): E => {
  try {
    run();
  } catch (error) {
    return error as E;
  }
  throw new Error("nothing was thrown");
};

export const rejectionOf = async <E = Error>(run: Promise<unknown>): Promise<E> => {
  const [outcome] = await Promise.allSettled([run]);
  return errorOf(() => {
    if (outcome.status === "rejected") throw outcome.reason;
  });
};
