/** Why there is no rehearsal, in one sentence. */
export class RehearsalError extends Error {
  override readonly name = "RehearsalError";
}
