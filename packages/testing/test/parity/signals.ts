import type { Delivery, NewSignal } from '@belay/workflow/adapter'
import { type Delivered, deliver, type MailEvent, type Owner } from '../../../workflow/src/owner/index.ts'
import type { Rows } from '../../src/store/rows.ts'
import { newId } from '../owner/bench.ts'
import { viewOf } from './runs.ts'

export async function deliverOne(rows: Rows, owner: Owner, signal: NewSignal): Promise<Delivery> {
  const { runId, definitionId, step, key, actor, payload, payloadHash } = signal
  const row = rows.runs.get(runId)
  if (row === undefined || row.definition !== definitionId) return { result: 'unknown' }
  const { name } = rows.definitions.get(definitionId)!.shape.steps[step]!
  const isRejection =
    actor !== null && payload !== null && (JSON.parse(payload) as { approved?: boolean }).approved === false
  const mail = {
    key,
    ...(payloadHash === undefined ? {} : { hash: payloadHash }),
    ...(isRejection ? { reject: true } : {}),
  }
  const event: MailEvent = { type: 'mail', path: [name], mail }
  const sent = { run: runId, key: newId(), event: JSON.stringify(event), payload }
  const [delivered] = await deliver(owner, [sent], { operates: false })
  return deliveryOf(rows, signal, delivered!)
}

function deliveryOf(rows: Rows, { runId, step, key }: NewSignal, delivered: Delivered): Delivery {
  const recorded = viewOf(rows, runId)!.steps[step]!.output
  if (delivered.result === 'unknown') return { result: 'unknown' }
  const answer = 'answer' in delivered ? delivered.answer : undefined
  if (typeof answer === 'object' && 'result' in answer) {
    if (answer.result === 'duplicate') return { result: 'duplicate', recorded, payloadHash: answer.hash }
    if (answer.result !== 'ignored') return { result: answer.result }
    const { reason } = answer
    const had = signalOf(rows, runId, step) === undefined ? null : recorded
    return { result: 'ignored', reason: reason === 'not_waiting' ? 'step_over' : reason, recorded: had }
  }
  const known = signalOf(rows, runId, step)
  if (known?.key === key) return { result: 'duplicate', recorded, payloadHash: known.hash }
  return known === undefined
    ? { result: 'ignored', reason: 'run_over', recorded: null }
    : { result: 'ignored', reason: 'signalled', recorded }
}

function signalOf(rows: Rows, runId: string, step: number) {
  const row = rows.runs.get(runId)!
  const { name } = rows.definitions.get(row.definition)!.shape.steps[step]!
  const unit = [...rows.steps.get(runId)!.values()].find((each) => each.name === name && each.scope === 0)
  const state = unit?.state == null ? [] : (JSON.parse(unit.state) as unknown[])
  return (state.at(-1) as { signal?: { key?: string; hash?: string } } | null | undefined)?.signal
}
