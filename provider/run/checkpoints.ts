// Whether the engine saves its state after each step, or once at the end (docs/performance.md#checkpoints).
import type { Env } from "../../client/config.ts";

/** As the engine reads its variable (IsTruthy of github.com/pulumi/pulumi/blob/master/sdk/go/common/util/cmdutil/console.go). */
export const skipsCheckpoints = ({ PULUMI_SKIP_CHECKPOINTS: flag = "" }: Env): boolean =>
  flag === "1" || flag.toLowerCase() === "true";
