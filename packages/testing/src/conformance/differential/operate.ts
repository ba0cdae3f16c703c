import { createEngine, type Engine, type RunHandle, type WorkflowDefinition } from '@belay/workflow'
import { type Adapter, BelayError } from '@belay/workflow/adapter'
import type { Operation, OperatorAction } from './command.ts'
import { GRAPHS } from './graphs.ts'

/** What an operator's action answers. A refusal is an answer: both stores must refuse in the same words. */
export async function operated(adapter: Adapter, { runId, action, step }: Operation): Promise<unknown> {
  const engine = createEngine({ adapter, logger: false })
  try {
    if (action === 'migrate') return { done: await migrate(adapter, engine, runId) }
    return { done: await operate(engine.runs.handle(runId), action, step) }
  } catch (error) {
    if (BelayError.is(error) && error.code === 'action_refused') return { refused: error.message }
    throw error
  }
}

/** Moves a run to the other version of its workflow, if there is one. */
async function migrate(adapter: Adapter, engine: Engine, runId: string): Promise<boolean> {
  const { workflow, version } = (await adapter.findRun({ runId }))!
  const record = GRAPHS.find((graph) => graph.name === workflow && graph.version !== version)
  if (record === undefined) return false
  const { name } = record
  return engine.migrateRun(runId, { name, version: record.version, record } as WorkflowDefinition)
}

/** Does what an operator does to a run. */
function operate(
  handle: RunHandle,
  action: Exclude<OperatorAction, 'migrate'>,
  step: string,
): Promise<unknown> {
  const by = { by: 'operator', reason: 'chance' }
  switch (action) {
    case 'pause':
    case 'resume':
    case 'retry':
      return handle[action](by)
    case 'retryStep':
    case 'retryCompensation':
    case 'skipCompensation':
      return handle[action](step, by)
    case 'skipStep':
      return handle.skipStep(step, { ...by, output: 'stand-in' })
    case 'giveUpStep':
      return handle.giveUpStep(step, by)
    case 'setPriority':
      return handle.setPriority(step.length, by)
    case 'abandon':
      return handle.cancel({ ...by, compensate: false })
  }
}
