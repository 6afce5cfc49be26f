// Checks that this is the service of the state before a record is compared, read or deleted. It checks the address, then, with
// credentials, the organisation once per process. At another service this process creates nothing either.
//
// Each resource carries the address, since a CI machine has nothing else of the last run. A check finds it in the inputs, a refresh
// and a delete in the outputs. A state of an earlier version carries none, and receives that of this run.
import { type Config, serviceOf } from "../../client/config.ts";
import { apiErrorOf, hasCode, SessionError, sessionErrorOf, sessionText } from "../../client/errors.ts";
import { isApiError, isLoopbackUrl, type Json, rootOf } from "../../schema/index.ts";
import { absenceEvidence } from "../reconcile/not-found.ts";
import type { Session } from "../session/session.ts";
import { SERVICE } from "../state/state.ts";

/** The state belongs to another service: nothing is created, changed or deleted. */
class WrongService extends SessionError {
  override readonly name = "WrongService";
}

export interface ServiceGate {
  /** Checks the address; needs no network. */
  address(stored: Json): Promise<void>;
  /** Checks the organisation of a uid, with one request for each organisation. */
  organization(uid: string): Promise<void>;
  /** Rejects with the reason for a denied read or delete: a missing organisation, or the denial itself. */
  explain(uid: string, error: unknown): Promise<never>;
  /** Throws once a record of this run was refused. */
  open(): void;
  /** The session; its creates fail once a record of this run was refused. */
  guarded(session: Session): Session;
}

export interface GateParts {
  config(): Promise<Config>;
  connect(): Promise<Session>;
  hasCredentials(): Promise<boolean>;
  log(text: string): void;
}

export const serviceGate = ({ config, connect, hasCredentials, log }: GateParts): ServiceGate => {
  let refusal: WrongService | undefined;
  const absences = new Map<string, Promise<string | undefined>>();

  const refuse = (error: unknown): never => {
    if (error instanceof WrongService) refusal ??= error;
    throw error;
  };
  const evidenceOf = async (organization: string): Promise<string | undefined> => {
    let session: Session;
    try {
      session = await connect();
    } catch (error) {
      log(`the organisation ${organization} of this stack cannot be checked: ${(error as Error).message}`);
      return undefined;
    }
    return explainAbsence(session, await config(), organization);
  };
  const organization = async (uid: string): Promise<void> => {
    const root = rootOf(uid);
    if (!(await hasCredentials()) || (await config()).movedFrom === root) return;
    const absence = absences.get(root) ?? evidenceOf(root);
    absences.set(root, absence);
    const text = await absence;
    if (text !== undefined) refuse(new WrongService(text));
  };

  const open = (): void => {
    if (refusal) throw refusal;
  };

  return {
    address: async (stored) => {
      try {
        checkAddress(await config(), stored);
      } catch (error) {
        refuse(error);
      }
    },
    organization,
    explain: async (uid, error) => {
      const denied = hasCode(error, "PERMISSION_DENIED") && !sessionErrorOf(error);
      if (denied) await organization(uid);
      throw error;
    },
    open,
    guarded: (session) => ({
      ...session,
      call: async (operation, ...rest) => {
        if (/^(Batch)?Create/.test(operation)) open();
        return session.call(operation, ...rest);
      },
    }),
  };
};

/** Whether the address differs from that of the state. After a confirmed move the update stores the new one. */
export const isMoved = ({ baseUrl }: Pick<Config, "baseUrl">, { [SERVICE]: stored }: Json): boolean =>
  stored !== undefined && stored !== serviceOf(baseUrl);

/** Throws when the records of `stored` are at another address, unless the move is confirmed. */
const checkAddress = (config: Config, stored: Json): void => {
  const before = stored[SERVICE] as string;
  if (isMoved(config, stored) && config.movedFrom !== before)
    throw new WrongService(otherAddress(before, serviceOf(config.baseUrl), config));
};

/** How to confirm a move. */
const confirmation = ({ provider }: Config, movedFrom: string): string =>
  provider === undefined
    ? `pulumi config set irm:movedFrom ${movedFrom}`
    : `movedFrom: "${movedFrom}" of provider ${provider}`;

const otherAddress = (before: string, now: string, config: Config): string =>
  [
    `wrong service? The records of this stack are at ${before}, as of its last up, and this run is for ${now}. ` +
      "Nothing is created, changed or deleted.",
    `If the service has moved there with its records: ${confirmation(config, before)}, or for one run ` +
      `IRM_MOVED_FROM=${before} in the environment. Remove the setting after the next up.`,
    "If it is another service: set the address back, or use a stack of its own (pulumi stack init NAME).",
    ...(isLoopbackUrl(now) ? [RESTARTED] : []),
  ].join("\n  - ");

/** The most common case: `irm serve --dev` without a database was restarted. */
const RESTARTED =
  "If it is a development server that was restarted: it lost its records, unless it was started with --db FILE. " +
  "To start over: pulumi state delete --all, then pulumi up.";

/** The evidence that the organisation does not exist; undefined where it does, or may. */
const explainAbsence = async (session: Session, config: Config, organization: string): Promise<string | undefined> => {
  try {
    const evidence = await absenceEvidence(session, organization);
    return evidence && absent(organization, config, evidence);
  } catch (error) {
    const cause = sessionErrorOf(error) ?? apiErrorOf(error) ?? (error as Error);
    const text = `the organisation ${organization} of this stack cannot be checked: ${sessionText(cause)}`;
    // On loopback the server is the caller's own: a refused token means that the server is a new one.
    if (isApiError(cause) && REFUSALS.includes(cause.code) && isLoopbackUrl(config.authUrl)) return text;
    session.log(text);
    return undefined;
  }
};

const REFUSALS: readonly string[] = ["PERMISSION_DENIED", "UNAUTHENTICATED"];

const absent = (organization: string, config: Config, evidence: string): string => {
  const service = serviceOf(config.baseUrl);
  return [
    `wrong service? The records of this stack are in the organisation ${organization}, and it is not at ${service}: ` +
      `${evidence}. Nothing is created, changed or deleted.`,
    "If the address or the credentials are those of another service: set them back.",
    ...(isLoopbackUrl(service)
      ? [RESTARTED]
      : ["If the organisation no longer exists: pulumi state delete URN for each of its resources, or --all."]),
    `To continue anyway: ${confirmation(config, organization)}, or IRM_MOVED_FROM=${organization} in the environment.`,
  ].join("\n  - ");
};
