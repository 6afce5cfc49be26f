import { UserError } from "../../schema/index.ts";

/** Why there is no run, in one sentence. */
export class RunError extends UserError {
  override readonly name = "RunError";
}
