// The order of the test files. Files that wait share the processors with files that compute. The files of a project are
// together, since a process that has loaded it continues with it. The projects are in the order below.
import { BaseSequencer, type TestSpecification } from "vitest/node";

// The first of these builds and installs the package, for which the others of its project wait.
const ORDER = ["/package/program.test.ts", "/lifecycle/", "/package/", "/faults/", "/soak/", "/interop/"];

export default class Sequencer extends BaseSequencer {
  /** Within a project as Vitest has it: the longest first, or the largest where it has not seen them yet. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    const rankOf = ({ moduleId }: TestSpecification) => ORDER.findIndex((part) => moduleId.includes(`/test${part}`));
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b));
  }
}
