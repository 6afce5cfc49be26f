// ^C while requests are under way that change something: what has been done is reported, and nothing more is begun.

export const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Aborts the signal, with this reason, at the first ^C or SIGTERM. The second one ends the process. */
export const untilInterrupted = async <T>(
  reason: Error,
  act: (signal: AbortSignal) => Promise<T>,
  notice = "waiting for the requests under way",
): Promise<T> => {
  const controller = new AbortController();
  const stop = () => {
    for (const signal of SIGNALS) process.off(signal, stop);
    process.stderr.write(`${notice}\n`);
    controller.abort(reason);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await act(controller.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
};
