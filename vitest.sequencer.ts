import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** It mostly waits for other processes, and so leaves the processor to the first files of the next project. */
const FIRST = ['examples/test/tour.test.ts'].map(locate)

/** The files that take longest, as measured on two cores, in that order. A fresh clone has no durations of an earlier run to go by. */
const LONGEST = [
  'examples/test/tour.test.ts',
  'packages/testing/test/simulation/simulation.test.ts',
  'packages/workflow-postgres/test/kill-points/kill-points.test.ts',
  'packages/testing/test/simulation/flow.test.ts',
  'packages/workflow-postgres/test/conformance/pglite.test.ts',
  'packages/workflow-postgres/test/conformance/postgres.test.ts',
  'packages/workflow-postgres/test/given/libraries.test.ts',
  'packages/workflow-postgres/test/hostile/hostile.test.ts',
  'examples/test/postgres.test.ts',
  'packages/workflow-postgres/test/interleavings/others.test.ts',
  'packages/workflow-postgres/test/interleavings/pauses.test.ts',
  'examples/test/import.test.ts',
  'examples/test/media.test.ts',
  'packages/testing/test/simulation/kinds.test.ts',
  'examples/test/resume.test.ts',
  'examples/test/waiting.test.ts',
  'tools/simulation/test/worlds.test.ts',
  'examples/test/frameworks.test.ts',
  'packages/workflow-postgres/test/plans.test.ts',
  'packages/workflow-postgres/test/conformance/differential.test.ts',
  'packages/testing/test/conformance/differential.test.ts',
  'packages/workflow-postgres/test/stuck-statements.test.ts',
  'packages/workflow-postgres/test/interleavings/recovery.test.ts',
  'packages/workflow-postgres/test/interleavings/loops.test.ts',
  'packages/workflow-postgres/test/maps-ends.test.ts',
  'packages/workflow-postgres/test/processes/crash.test.ts',
  'packages/workflow-postgres/test/processes/ledger.test.ts',
  'packages/workflow-postgres/test/interleavings/children.test.ts',
  'packages/workflow-postgres/test/interleavings/undo.test.ts',
  'packages/workflow-postgres/test/interleavings/operators.test.ts',
  'packages/workflow-postgres/test/transact/silence.test.ts',
  'packages/workflow-postgres/test/dropping.test.ts',
  'packages/workflow-postgres/test/lifeline.test.ts',
  'packages/workflow-postgres/test/held-rows.test.ts',
  'packages/testing/test/engine/standstill.test.ts',
  'examples/test/csv.test.ts',
  'examples/test/start.test.ts',
  'packages/workflow-postgres/test/error-events.test.ts',
  'packages/workflow-postgres/test/migration-races.test.ts',
  'packages/workflow-postgres/test/pglite.test.ts',
  'packages/testing/test/conformance/differential-verbs.test.ts',
].map(locate)

/**
 * Runs the files project by project, each with its longest first, so that none of them is left to run alone at the end. A process is kept for the next
 * file only if that is of the same project; a new one loads the code again, which takes longer than most files.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const listed = LONGEST.flatMap((path) => sorted.filter(({ moduleId }) => moduleId === path))
    const first = listed.filter(({ moduleId }) => FIRST.includes(moduleId))
    const byLength = [...new Set([...listed, ...sorted])].filter((file) => !first.includes(file))
    const projects = [...new Set(byLength.map(({ project }) => project))]
    return [...first, ...projects.flatMap((project) => byLength.filter((file) => file.project === project))]
  }
}

function locate(path: string): string {
  const file = fileURLToPath(new URL(path, import.meta.url))
  if (existsSync(file)) return file
  throw new Error(`vitest.sequencer.ts lists ${path}, which does not exist. Give its new name, or remove it.`)
}
