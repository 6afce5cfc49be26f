// What a review describes: the stack, the service, the commit and the time. A page or a comment that readers share names them.
import { repositoryAt } from "../access/base/git.ts";
import type { Origin } from "../access/review/report.ts";
import { timeText } from "../access/text.ts";

export interface OriginParts {
  stack: string | undefined;
  service: string;
  /** of the program or the policy */
  folder: string;
  nowMs: number;
}

export const originOf = ({ stack, service, folder, nowMs }: OriginParts): Origin => ({
  ...(stack !== undefined && { stack }),
  service,
  ...commitIn(folder),
  time: timeText(nowMs),
});

const commitIn = (folder: string): Pick<Origin, "commit" | "isModified"> => {
  try {
    const repository = repositoryAt(folder);
    const commit = repository.commitOf("HEAD");
    return commit === undefined ? {} : { commit, ...(repository.isModified() && { isModified: true }) };
  } catch {
    // Without git or a repository, a review has no commit.
    return {};
  }
};
