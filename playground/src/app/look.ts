import type { Engine } from '@belay/workflow'
import { textsFor } from '../../../packages/dashboard/src/view/texts.ts'
import { hasEnded, whyEnded, whyOpen } from '../../../packages/dashboard/src/view/why.ts'
import { viewRun } from '../../../packages/dashboard/src/view-run.ts'
import type { Look } from '../messages.ts'

/** The run as the dashboard shows it; undefined if it is not stored. */
export async function look(engine: Engine, id: string): Promise<Look | undefined> {
  const { runs } = engine
  const [run, attempts, history, explanation] = await Promise.all([
    runs.get(id),
    runs.attempts(id, { limit: 1_000 }),
    runs.history(id),
    engine.explain(id),
  ])
  if (run === undefined) return undefined
  const { steps } = await engine.workflows.get(run.workflow, run.version)
  const texts = textsFor(true, undefined)
  return {
    run: viewRun(run, steps, attempts, history, { texts }),
    why: hasEnded(run) ? whyEnded(run, texts) : whyOpen(explanation),
    open: explanation.steps.map(({ step, sentence, actions }) => ({
      ...{ step, sentence },
      actions: actions.map(({ verb, step }) => ({ verb, step })),
    })),
  }
}
