import { describe, expect, it } from "vitest";
import { keptFolderProblem } from "../../../provider/engine/open-stacks.ts";
import { skipsCheckpoints } from "../../../provider/run/started-with.ts";

it.each<[string | undefined, boolean, string]>([
  [undefined, false, "it is not set"],
  ["", false, "it is empty"],
  ["1", true, "as the engine reads it"],
  ["true", true, "as the engine reads it"],
  ["TRUE", true, "in any case"],
  ["0", false, "it is off"],
  ["yes", false, "the engine takes it for false"],
])("PULUMI_SKIP_CHECKPOINTS %j is %s: %s", (value, expected) => {
  expect(skipsCheckpoints({ PULUMI_SKIP_CHECKPOINTS: value })).toBe(expected);
});

const HOME = { HOME: "/home/ann" };

describe("the folder of the journals", () => {
  it.each<[string | undefined, Record<string, string>, string]>([
    [undefined, HOME, "a person's machine keeps it"],
    ["/tmp/journal", HOME, "so it does one in the folder for temporary files"],
    [undefined, { ...HOME, CI: "false" }, "no CI"],
    ["/var/lib/pulumi-irm", { ...HOME, CI: "true" }, "a folder that somebody has chosen"],
    [
      "/var/lib/pulumi-irm",
      { ...HOME, GITHUB_ACTIONS: "true", RUNNER_TEMP: "/work/_temp" },
      "not in a folder of the job",
    ],
  ])("%j is kept: %o, %s", (journal, env) => {
    expect(keptFolderProblem(journal === undefined ? {} : { journal }, env, "/work/access")).toBeUndefined();
  });

  it.each<[Record<string, string>, string]>([
    [{ ...HOME, CI: "true" }, "any CI"],
    [{ ...HOME, GITHUB_ACTIONS: "true" }, "GitHub Actions"],
    [{ ...HOME, GITLAB_CI: "true" }, "GitLab"],
    [{ ...HOME, TF_BUILD: "True" }, "Azure Pipelines, which sets no CI"],
    [{ ...HOME, JENKINS_URL: "http://jenkins.example.com" }, "Jenkins"],
    [{ ...HOME, CI: "1", XDG_STATE_HOME: "/home/ann/.state" }, "the usual folder of another place"],
  ])("that nobody has chosen goes with the machine: %o, %s", (env) => {
    expect(keptFolderProblem({}, env, "/work/access")).toMatch(
      /^in CI it needs a folder of the intent journals that outlives the machine, and \S+pulumi-irm is the usual one, which a runner that starts empty does not have\. Set IRM_JOURNAL, or irm:journal, to a folder that is kept$/,
    );
  });

  it.each<[string, Record<string, string>, string]>([
    ["/work/_temp/journal", { GITHUB_ACTIONS: "true", RUNNER_TEMP: "/work/_temp" }, "GitHub's folder of the job"],
    ["/builds/acme/access/.journal", { GITLAB_CI: "true", CI_PROJECT_DIR: "/builds/acme/access" }, "GitLab's checkout"],
    [".journal", { CI: "true", WORKSPACE: "/work/access" }, "Jenkins' workspace, by a relative path"],
  ])("%j goes with the job: %o, %s", (journal, env) => {
    expect(keptFolderProblem({ journal }, env, "/work/access")).toMatch(/ goes with the job\. Set IRM_JOURNAL/);
  });
});
