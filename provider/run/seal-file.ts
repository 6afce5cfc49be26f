// The seal of a run: the file that its settings name, if it binds this run.
import { readSeal } from "../../access/seal/file.ts";
import { type Seal, SealFileError } from "../../access/seal/seal.ts";
import type { Client } from "../../client/client.ts";
import type { Env } from "../../client/config.ts";
import { SessionError } from "../../client/errors.ts";
import { withSection } from "../../client/recovery.ts";
import { printable } from "../../schema/index.ts";

/** The whole run is refused: nothing of it is in the seal. */
export class RunRefused extends SessionError {
  override readonly name = "RunRefused";
}

export const refused = (problem: string): RunRefused =>
  new RunRefused(withSection(`IRM_SEAL: this run is refused, and nothing is sent: ${problem}`, "seal"));

/** What each variable must hold. */
export const VARIABLES = {
  IRM_SEAL: "the file of the seal",
  IRM_SEAL_DIGEST: "the digest of the seal",
  IRM_SEAL_REQUIRED: "1",
} as const;

/** Throws a RunRefused for a seal that does not bind this run. */
export const openSeal = async ({
  file,
  digest,
  required,
  env,
  cwd,
  client,
  service,
}: {
  env: Env;
  cwd: string;
  client: Client;
  service: string;
  file: string | undefined;
  digest: string | undefined;
  required: string | undefined;
}): Promise<Seal> => {
  // A CI job that passes on an output which does not exist sets the empty string, and means to bind the run.
  for (const [name, value] of Object.entries(VARIABLES))
    if (env[name] === "") throw refused(`${name} is set and empty; set it to ${value}, or unset it`);
  if (required && required !== "1")
    throw refused(`IRM_SEAL_REQUIRED is ${JSON.stringify(printable(required))}; it must be 1 or not set`);
  if (file === undefined)
    throw refused(
      `it has no seal, and ${required ? "IRM_SEAL_REQUIRED" : "IRM_SEAL_DIGEST"} is set: set IRM_SEAL to its file`,
    );
  if (required && !env.IRM_SEAL && !digest)
    throw refused(
      `the seal ${file} comes from the stack's configuration, which the change can choose, and IRM_SEAL_REQUIRED is set: set IRM_SEAL, or IRM_SEAL_DIGEST`,
    );
  const seal = sealIn(file, cwd);
  const { services, expires } = seal.origin;
  if (digest && digest !== seal.digest)
    throw refused(`the seal ${file} has the digest ${seal.digest}, and IRM_SEAL_DIGEST is ${printable(digest)}`);
  if (!services.includes(service))
    throw refused(`the seal ${file} is of ${services.join(", ")}, and this run is at ${service}`);
  // A date that cannot be read is over.
  if (!((await client.serviceNow()) < Date.parse(expires)))
    throw refused(`the seal ${file} expired at ${printable(expires)}`);
  return seal;
};

const sealIn = (file: string, cwd: string): Seal => {
  try {
    return readSeal(file, cwd);
  } catch (error) {
    throw error instanceof SealFileError ? refused(`the seal ${error.message}`) : error;
  }
};
