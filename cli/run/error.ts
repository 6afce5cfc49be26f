/** Why there is no run, in one sentence. */
export class RunError extends Error {
  override readonly name = "RunError";
}
