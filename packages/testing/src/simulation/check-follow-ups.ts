import type { WorkflowDefinition } from '@belay/workflow'
import { isTerminal, type RunEnd } from '@belay/workflow/adapter'
import type { RunDump } from '../invariants/index.ts'
import type { Definitions } from './definitions.ts'

/** The ends of runs that workers were told of, and one guarantee: each end of a run with end steps has exactly one follow-up. */
export class FollowUps {
  readonly #ends = new Map<string, RunEnd>()

  found(ends: readonly RunEnd[]): void {
    for (const end of ends) this.#ends.set(end.sequence, end)
  }

  /** Once everything is at rest. `isPruned`: whether a run of the world, or any follow-up of it, may have been pruned. */
  check(runs: readonly RunDump[], definitions: Definitions, broken: (violation: string) => void): void {
    const keys = runs.flatMap(({ run }) => (run.parent?.step === null ? [run.key] : []))
    for (const key of new Set(keys)) {
      if (keys.filter((other) => other === key).length > 1) broken(`there are two follow-ups ${key}`)
    }
    for (const { runId, sequence, status, workflow } of this.#ends.values()) {
      // Children and parents report their ends too.
      if (!definitions.versionsOf(workflow).every(hasEndSteps)) continue
      if (!keys.includes(`${runId}:${sequence}`))
        broken(`the end ${sequence} of run ${runId}, ${status}, has no follow-up`)
    }
    const ended = new Set([...this.#ends.values()].map(({ runId }) => runId))
    for (const { run } of runs) {
      // A run may have moved, after its end, to a version with end steps.
      const always = definitions.versionsOf(run.workflow).every(hasEndSteps)
      if (always && isTerminal(run.status) && !ended.has(run.runId))
        broken(`nobody was told that run ${run.runId} ended`)
    }
  }
}

function hasEndSteps({ followUp }: WorkflowDefinition): boolean {
  return followUp !== null
}
