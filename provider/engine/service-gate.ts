// Checks that this is the service of the state before a record is compared, read or deleted. It checks the address, then, with
// credentials, the organization once per process. At another service this process creates nothing either.
//
// Each resource carries the address, since a CI machine keeps nothing else of the last run. A check finds it in the inputs, a refresh and a
// delete in the outputs.
import { type Config, serviceOf } from "../../client/config.ts";
import { apiErrorOf, hasCode, SessionError, sessionErrorOf, sessionText, withSection } from "../../client/errors.ts";
import { SERVICE } from "../../client/preview-marks.ts";
import { listPage } from "../../client/records.ts";
import type { Clock } from "../../client/retry.ts";
import { bulleted, getOrInsert, isApiError, isLoopbackUrl, type Json, resources, rootOf } from "../../schema/index.ts";
import { type Absence, absenceOf } from "../recovery/not-found.ts";
import type { Environment, Session } from "../run/session.ts";
import type { Connection } from "./shared-state.ts";

/** The state belongs to another service: nothing is created, changed or deleted. */
class WrongService extends SessionError {
  override readonly name = "WrongService";
}

/** Each request of the run would fail in the same way. */
class Unreachable extends SessionError {
  override readonly name = "Unreachable";
}

type Run = {
  /**
   * If no request can succeed, an update ends before its steps: they run at the same time, and each would report it. Undefined if neither
   * the engine nor the program shows which it is: a preview then continues, and an update ends with its first step.
   */
  isUpdate: boolean | undefined;
};

export const serviceGate = (connection: Connection, { log, clock }: Pick<Environment, "log" | "clock">) => {
  const { config, connect, hasCredentials, stopped } = connection;
  const lookUps = new Map<string, Promise<LookUp>>();
  const reported = new Set<string>();
  let contact: Promise<void> | undefined;
  /** The behavior without the service, if the run may be a preview. */
  const offline = offlineWith(clock, log);

  const refuse = (error: unknown) => {
    if (error instanceof WrongService) stopped.reason ??= error;
    throw error;
  };
  const absenceIn = async (root: string, run: Run): Promise<Absence | undefined> => {
    if (!(await hasCredentials()) || (await config()).movedFrom === root) return undefined;
    const found = await getOrInsert(lookUps, root, async (): Promise<LookUp> => {
      let session: Session | undefined;
      try {
        session = await connect();
        const absence = await absenceOf(session, root);
        contact ??= Promise.resolve();
        return { absence };
      } catch (error) {
        if (!session) return { problem: (error as Error).message };
        const ofSession = sessionErrorOf(error);
        const cause = ofSession ?? apiErrorOf(error) ?? (error as Error);
        const problem = sessionText(cause);
        // The caller runs a server on loopback, so one that refuses the caller is a different one than before.
        if (isApiError(cause) && REFUSALS.includes(cause.code) && isLoopbackUrl((await config()).authUrl))
          throw new WrongService(uncheckedText(root, problem));
        return { problem, isOfSession: ofSession !== undefined };
      }
    });
    if (!("problem" in found)) return found.absence;
    if (run.isUpdate !== false && found.isOfSession) offline.begin(new Unreachable(found.problem), run.isUpdate);
    if (!offline.reason && !reported.has(root)) log(uncheckedText(root, found.problem));
    reported.add(root);
    return undefined;
  };
  /** Checks the organization of a uid in the state, with one request for each organization. */
  const organization = async (uid: string, run: Run = { isUpdate: false }) => {
    const root = rootOf(uid);
    const absence = await absenceIn(root, run).catch(refuse);
    if (absence) refuse(new WrongService(absent(root, await config(), absence)));
  };
  /** Checks the organization of the group in which the program creates a record. */
  const newPlace = async (uid: string, run: Run) => {
    const root = rootOf(uid);
    const absence = await absenceIn(root, run);
    if (absence) throw new SessionError(notVisibleText(root, await config(), absence));
  };

  return {
    /** The state is from another address, which holds other records. Throws unless the move is confirmed. */
    requireMove: async ({ [SERVICE]: before }: Json) => {
      const current = await config();
      if (current.movedFrom !== before)
        refuse(new WrongService(otherAddress(before as string, serviceOf(current.baseUrl), current)));
    },
    organization,
    newPlace,
    /** Throws if no request of an update can succeed: no connection, or a sign-in that fails. Sends one request if none has been sent. */
    reachable: async (run: Run) => {
      if (offline.reason) return;
      contact ??= connect().then(tryToReach);
      await contact.catch((error) => {
        if (!(error instanceof Unreachable)) throw error;
        offline.begin(error, run.isUpdate);
      });
    },
    offline,
    /** Rejects with the reason for a denied read or delete: a missing organization, or the denial itself. */
    explain: async (uid: string, error: unknown) => {
      const denied = hasCode(error, "PERMISSION_DENIED") && !sessionErrorOf(error);
      if (denied) await organization(uid);
      throw error;
    },
  };
};

/** How to confirm a move. */
const confirmation = ({ provider }: Config, movedFrom: string) =>
  provider === undefined
    ? `pulumi config set irm:movedFrom ${movedFrom}`
    : `movedFrom: "${movedFrom}" of provider ${provider}`;

const otherAddress = (before: string, now: string, config: Config) =>
  withSection(
    bulleted(
      `wrong service? The records of this stack are at ${before}, as of its last up, and this run is for ${now}. ` +
        "Nothing is created, changed or deleted.",
      `If the service has moved there with its records: ${confirmation(config, before)}, or for one run ` +
        `IRM_MOVED_FROM=${before} in the environment. Then pulumi up --refresh=false, since a refresh has the settings of the last up. ` +
        "Remove the setting after it.",
      "If it is another service: set the address back, or use a stack of its own (pulumi stack init NAME).",
      ...(isLoopbackUrl(now) ? [RESTARTED] : []),
    ),
    "wrong-address",
  );

/** The most common case: `irm serve --dev` without a database was restarted. */
const RESTARTED =
  "If it is a development server that was restarted: it lost its records, unless it was started with --db FILE. " +
  "To start over: pulumi state delete --all, then pulumi up.";

/** The result for an organization, or why there is none. `isOfSession`: each request would fail in the same way. */
type LookUp = { absence: Absence | undefined } | { problem: string; isOfSession?: boolean };

/** Throws the error of the session, whose text names no resource. Any other error concerns only its own request. */
const tryToReach = async (session: Session) => {
  try {
    await listPage(session, resources.group.list, { uidp: { inRoot: true }, pageSize: 1 });
  } catch (error) {
    const cause = sessionErrorOf(error);
    if (cause) throw new Unreachable(sessionText(cause));
  }
};

const uncheckedText = (organization: string, why: string) =>
  `the organization ${organization} of this stack cannot be checked: ${why}`;

const REFUSALS: readonly string[] = ["PERMISSION_DENIED", "UNAUTHENTICATED"];

const SHOWN = 10;

const notVisibleText = (organization: string, config: Config, { visible }: Absence): string => {
  const lines = visible.length > SHOWN ? [...visible.slice(0, SHOWN), "and more"] : visible;
  const head = `the organization ${organization} is not visible to you at ${serviceOf(config.baseUrl)}; you can see`;
  const seen = lines.length === 0 ? `${head} none.` : bulleted(`${head}:`, ...lines);
  return withSection(
    `${seen}\nSet one that you can see as parent, or use credentials that may see ${organization}.`,
    "not-visible",
  );
};

const absent = (organization: string, config: Config, { evidence }: Absence): string => {
  const service = serviceOf(config.baseUrl);
  const lines = [
    `wrong service? The records of this stack are in the organization ${organization}, and it is not at ${service}: ` +
      `${evidence}. Nothing is created, changed or deleted.`,
    "If the address or the credentials are those of another service: set them back.",
    ...(isLoopbackUrl(service)
      ? [RESTARTED]
      : ["If the organization no longer exists: pulumi state delete URN for each of its resources, or --all."]),
    `To continue anyway: ${confirmation(config, organization)}, or IRM_MOVED_FROM=${organization} in the environment.`,
  ];
  return withSection(lines.join("\n  - "), "wrong-organization");
};

// A run that cannot reach the service, in a language that does not report whether it is a preview. A preview continues with one warning. An
// update ends with its first step. Meanwhile the engine checks the next resources, and would begin their steps, each with its own error. So
// their checks wait until the engine has seen the first error.

// Longest waits: for the step of a resource that was checked, and until an engine that has many processes to run has seen an error.
const STEP_MS = 2_000;
const END_MS = 1_000;

export const offlineWith = (clock: Clock, log: (text: string) => void) => {
  let isStepExpected = false;
  let isUpdate: boolean | undefined;
  let hasWarned = false;
  let failedAtMs = 0;
  const known = Promise.withResolvers<void>();

  const know = (own: boolean) => {
    isUpdate ??= own;
    known.resolve();
  };
  const warn = () => {
    if (offline.reason && !hasWarned)
      log(`warning: the service is not asked, and this shows what is known without it: ${offline.reason.message}`);
    hasWarned ||= offline.reason !== undefined;
  };
  /** The engine shows the step: a preview. */
  const noteShown = () => {
    if (!offline.reason) return;
    know(false);
    warn();
  };

  const offline = {
    /** why no request can succeed */
    reason: undefined as SessionError | undefined,
    /** No request can succeed. An update ends. Otherwise this is final: from now on the inputs lack values that need a look-up. */
    begin: (own: SessionError, endsRun = false) => {
      if (endsRun) throw own;
      offline.reason ??= own;
    },
    /** Before a resource is checked. */
    hold: async () => {
      if (!isStepExpected) return;
      if (isUpdate === undefined) await Promise.race([known.promise, clock.sleep(STEP_MS)]);
      if (isUpdate === undefined) noteShown();
      const leftMs = failedAtMs + END_MS - clock.now();
      if (isUpdate && leftMs > 0) await clock.sleep(leftMs);
    },
    /** The engine is about to show a step of the resource, or to carry it out. */
    expectStep: () => {
      isStepExpected = offline.reason !== undefined;
    },
    /** The resource has no step. */
    expectNone: warn,
    noteShown,
    /** The engine carries the step out, so this is an update, which ends here. */
    carriedOut: () => {
      if (!offline.reason) return;
      if (!isUpdate) failedAtMs = clock.now();
      know(true);
      throw offline.reason;
    },
  };
  return offline;
};
