// Before a record of a state is compared, read or deleted: is this the service that has it? The address first, then, where there
// are credentials, the organisation. Once it is not, this process creates nothing either.

import type { Config } from "../../client/config.ts";
import { hasCode, sessionErrorOf } from "../../client/errors.ts";
import { type Json, rootOf } from "../../schema/index.ts";
import { absenceOf } from "../session/organization.ts";
import { checkAddress, WrongService } from "../session/service-address.ts";
import type { Session } from "../session/session.ts";

export interface ServiceGate {
  /** the address; needs no network */
  address(stored: Json): Promise<void>;
  /** and the organisation of a uid, by one request for each organisation */
  organization(uid: string): Promise<void>;
  /** what a denial of a read or a delete comes from: rejects with another error where the organisation is not there */
  explain(uid: string, error: unknown): Promise<never>;
  /** throws once a record of this run was refused */
  open(): void;
  /** The session with creates that are refused once a record of this run was: also one that is about to be sent */
  guarded(session: Session): Session;
}

export interface GateParts {
  config(): Promise<Config>;
  connected(): Promise<Session>;
  hasCredentials: boolean;
  say(text: string): void;
}

export const serviceGate = ({ config, connected, hasCredentials, say }: GateParts): ServiceGate => {
  let refusal: WrongService | undefined;
  const absences = new Map<string, Promise<string | undefined>>();

  const refuse = (error: unknown): never => {
    if (error instanceof WrongService) refusal ??= error;
    throw error;
  };
  const lookFor = async (organization: string): Promise<string | undefined> => {
    let session: Session;
    try {
      session = await connected();
    } catch (error) {
      say(`the organisation ${organization} of this stack cannot be looked for: ${(error as Error).message}`);
      return undefined;
    }
    return absenceOf(session, await config(), organization);
  };
  const organization = async (uid: string): Promise<void> => {
    const root = rootOf(uid);
    if (!hasCredentials || (await config()).movedFrom === root) return;
    const absence = absences.get(root) ?? lookFor(root);
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
        if (operation.startsWith("Create")) open();
        return session.call(operation, ...rest);
      },
    }),
  };
};
