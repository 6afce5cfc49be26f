// `/faults`, for tests of clients in other processes: GET returns the script and the report, PUT takes a new script, POST
// `/faults/release` releases what is held. It takes no token, and so only requests by a name of loopback, and none that a
// browser sends for a page of another origin.
import { invalidArgument } from "../../schema/index.ts";
import { local, type Pages, pagesAt } from "../rest/page.ts";
import { restError } from "../rest/status.ts";
import type { FaultControl } from "./faults.ts";
import { FaultsError, parseFaults } from "./script.ts";

export const faultsPage = (faults: FaultControl): Pages => {
  const report = () => ({ http: 200, json: { faults: faults.script(), attempts: faults.attempts() } });
  const here = (answer: Parameters<typeof local>[1]) => local("the scripted failures are", answer);
  return pagesAt({
    "GET /faults": here(report),
    "POST /faults/release": here(() => {
      faults.release();
      return report();
    }),
    "PUT /faults": here(async ({ body }) => {
      try {
        faults.set(parseFaults((await body()).toString("utf8"), "body"));
      } catch (error) {
        if (!(error instanceof FaultsError)) throw error;
        return restError(invalidArgument(error.message.split("\n").map((description) => ({ field: "", description }))));
      }
      return report();
    }),
  });
};
