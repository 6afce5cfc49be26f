// The forms of the resources, for tests that run a program in each.
import { inject } from "vitest";

/** The folder of the provider that a program in this form needs. */
export const pluginOf = (form: "dynamic" | "native"): { plugin?: string } =>
  form === "native" ? { plugin: inject("pluginFolder") } : {};
