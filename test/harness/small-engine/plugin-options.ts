// What the small engine and the process of its plugin have to agree on.
import type { EnvironmentOptions, PauseAt, Point } from "./environment.ts";

export interface PluginOptions
  extends Pick<EnvironmentOptions, "pace" | "wrongBy" | "addedMembers" | "pageSize" | "shortTimeout" | "stored"> {
  pause?: PauseAt | undefined;
}

/** What it prints after its port. */
export interface PluginMessage {
  paused: Point;
}

/** The variable that has its options. */
export const OPTIONS = "IRM_TEST_PLUGIN";
