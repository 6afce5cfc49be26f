// The events that Schemathesis writes, a line of JSON each: what it sent, which links it followed, which checks failed.
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

interface Scenario {
  phase: string;
  recorder: {
    interactions?: Record<string, unknown>;
    cases?: Record<string, { transition?: { id: string } | null; is_transition_applied?: boolean }>;
    checks?: Record<string, { name: string; status: string }[]>;
  };
}

export interface Report {
  requests: number;
  /** stateful ones in which a link was followed */
  scenarios: number;
  /** those that were followed, each as often as it was */
  links: string[];
  /** names of the checks that failed, each as often as it did */
  failed: string[];
}

/** `folder`: where any number of runs have written to. */
export const readReport = async (folder: string): Promise<Report> => {
  const report: Report = { requests: 0, scenarios: 0, links: [], failed: [] };
  for await (const { phase, recorder } of scenariosIn(folder)) {
    report.requests += Object.keys(recorder.interactions ?? {}).length;
    const checks = Object.values(recorder.checks ?? {}).flat();
    report.failed.push(...checks.filter(({ status }) => status === "failure").map(({ name }) => name));
    if (phase !== "stateful") continue;
    const followed = Object.values(recorder.cases ?? {}).flatMap(({ transition, is_transition_applied: applied }) =>
      transition && applied ? [transition.id] : [],
    );
    report.links.push(...followed);
    if (followed.length > 0) report.scenarios += 1;
  }
  return report;
};

// Line by line: a long run writes hundreds of megabytes.
async function* scenariosIn(folder: string): AsyncGenerator<Scenario> {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".ndjson"))) {
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) }))
      if (line.startsWith('{"ScenarioFinished"')) yield JSON.parse(line).ScenarioFinished;
  }
}
