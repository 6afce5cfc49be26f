// A run that cannot reach the service, in a language that does not say whether it is a preview. A preview goes on, with one warning. An
// update ends with its first step. The engine checks the next resources meanwhile, and would begin their steps too, each with an error of
// its own: so their checks wait until it has seen the first one.
import type { Clock } from "../../client/clock.ts";
import type { SessionError } from "../../client/errors.ts";

// Longest waits: for the step of a resource that was checked, and until an engine that has many processes to run has seen an error.
const STEP_MS = 2_000;
const END_MS = 1_000;

export const offlineWith = (clock: Clock, log: (text: string) => void) => {
  let isStepExpected = false;
  let isUpdate: boolean | undefined;
  let hasWarned = false;
  let failedAtMs = 0;
  const known = Promise.withResolvers<void>();

  const know = (own: boolean): void => {
    isUpdate ??= own;
    known.resolve();
  };
  const warn = (): void => {
    if (offline.reason && !hasWarned) log(warningText(offline.reason.message));
    hasWarned ||= offline.reason !== undefined;
  };
  /** The engine shows the step: a preview. */
  const noteShown = (): void => {
    if (!offline.reason) return;
    know(false);
    warn();
  };

  const offline = {
    /** why no request can succeed */
    reason: undefined as SessionError | undefined,
    isOn: (): boolean => offline.reason !== undefined,
    /** No request can succeed. For good: what is not looked up from now on is missing in the inputs. */
    begin: (own: SessionError): void => {
      offline.reason ??= own;
    },
    /** Before a resource is checked. */
    hold: async (): Promise<void> => {
      if (!isStepExpected) return;
      if (isUpdate === undefined) await Promise.race([known.promise, clock.sleep(STEP_MS)]);
      if (isUpdate === undefined) noteShown();
      const leftMs = failedAtMs + END_MS - clock.now();
      if (isUpdate && leftMs > 0) await clock.sleep(leftMs);
    },
    /** The engine is about to show a step of the resource, or to carry it out. */
    expectStep: (): void => {
      isStepExpected = offline.reason !== undefined;
    },
    /** It has no step. */
    expectNone: warn,
    noteShown,
    /** It carries the step out: an update, which ends here. */
    carriedOut: (): void => {
      if (!offline.reason) return;
      if (!isUpdate) failedAtMs = clock.now();
      know(true);
      throw offline.reason;
    },
  };
  return offline;
};

const warningText = (why: string): string =>
  `warning: the service is not asked, and this shows what is known without it: ${why}`;
