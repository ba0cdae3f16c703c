import type { JsonText } from '@belay/workflow/adapter'
import type { Committed, Identity, Member, PlainEnd, WrittenStep } from '@belay/workflow/store'
import { bury, send } from './mail.ts'
import { RefusedError } from './refused.ts'
import { type MemoryStep, mailKey, NO_TIMES, placeAt, type Rows } from './rows.ts'
import { start } from './starts.ts'

export function commit(rows: Rows, identity: Identity, members: readonly Member[]): Committed {
  if (!rows.isAlive(identity)) return { result: 'behind' }
  const strange = members.filter(({ run, fence }) => {
    const live = rows.live.get(run)
    return live === undefined || live.owner !== identity.worker || live.fence !== fence
  })
  if (strange.length > 0) return { result: 'strange', runs: strange.map(({ run }) => run) }
  // All that could be refused is known before the first row is written.
  for (const member of members) check(rows, member)
  for (const member of members) write(rows, member)
  const sent = members.flatMap(({ mail }) => send(rows, mail))
  const notify = new Set(sent.flatMap((each) => (each.result === 'sent' ? [each.owner] : [])))
  const started = members.flatMap(({ starts }) =>
    starts.flatMap(({ run, ...of }) => start(rows, { ...of, runs: [run] })),
  )
  return {
    result: 'committed',
    started: started.filter(({ created }) => created).map(({ id }) => id),
    notify: [...notify],
  }
}

function check(rows: Rows, { run, ends, births, updates, turned, applied, mail, tombstones }: Member): void {
  for (const { output } of ends) checkText(output)
  for (const { item, output, error, state } of [...births, ...updates])
    for (const text of [item, output, error, state]) checkText(text)
  for (const text of [turned?.state, turned?.cause, ...applied.map(({ answer }) => answer)]) checkText(text)
  for (const { event, payload } of mail) for (const text of [event, payload]) checkText(text)
  for (const key of tombstones)
    if (rows.mail.has(mailKey(run, key))) throw new RefusedError('other', `Run ${run} has an outcome ${key}.`)
}

function checkText(text: JsonText | undefined): void {
  if (text === null || text === undefined) return
  try {
    JSON.parse(text)
  } catch (error) {
    throw new RefusedError('data', 'A text is no JSON.', { cause: error })
  }
}

function write(rows: Rows, member: Member): void {
  const steps = rows.steps.get(member.run)!
  for (const no of member.drops) steps.delete(no)
  for (const end of member.ends) steps.set(end.no, afterEnd(steps.get(end.no)!, end))
  for (const birth of member.births) steps.set(birth.no, changed(UNBORN, birth, steps))
  for (const update of member.updates) {
    const before = steps.get(update.no)
    if (before !== undefined) steps.set(update.no, changed(before, update, steps))
  }
  for (const { sequence, answer } of member.applied) {
    const row = rows.open.get(sequence)
    if (row !== undefined) rows.keep({ ...row, isApplied: true, answer })
  }
  for (const key of member.tombstones) bury(rows, member.run, key)
  writeRun(rows, member)
}

const UNBORN = {
  ...{ item: null, output: null, error: null, undoError: null },
  ...{ times: NO_TIMES, undoTimes: NO_TIMES },
} as const

const afterEnd = (step: MemoryStep, { output, startedAt, finishedAt }: PlainEnd): MemoryStep => ({
  ...step,
  ...{ status: 'completed', attempt: 1, due: null, state: null, output },
  times: { startedAt, finishedAt },
})

function changed(
  before: Pick<MemoryStep, keyof typeof UNBORN> & Partial<MemoryStep>,
  { item, output, outputOf, error, isUndo, startedAt, finishedAt, ...step }: WrittenStep,
  steps: ReadonlyMap<number, MemoryStep>,
): MemoryStep {
  const copied = outputOf === undefined ? output : (steps.get(outputOf)?.output ?? null)
  const given = error === undefined ? {} : isUndo === true ? { undoError: error } : { error }
  const known = isUndo ? before.undoTimes : before.times
  const times = {
    startedAt: startedAt === undefined ? known.startedAt : startedAt,
    finishedAt: finishedAt === undefined ? known.finishedAt : finishedAt,
  }
  // What names a unit is given at its birth.
  const { scope, name, index, label } = { ...step, ...before } as MemoryStep
  return {
    ...before,
    ...step,
    ...{ scope, name, index, label },
    ...(item === undefined ? {} : { item }),
    ...(copied === undefined ? {} : { output: copied }),
    ...given,
    ...(isUndo ? { undoTimes: times } : { times }),
  }
}

function writeRun(rows: Rows, { run: id, turned, begun, found, after, fence }: Member): void {
  const run = rows.runs.get(id)!
  const live = rows.live.get(id)!
  if (turned !== null)
    rows.runs.set(id, { ...run, ...turned, cause: turned.cause === undefined ? run.cause : turned.cause })
  if (after === 'ends') {
    rows.runs.set(id, { ...rows.runs.get(id)!, fence })
    rows.live.delete(id)
    return
  }
  const marks = { begun: live.begun || begun, lost: live.lost && !found }
  const released =
    after === 'stays' ? {} : { ...after, owner: null, place: placeAt(rows.now(), after.due, after.lead) }
  rows.live.set(id, { ...live, ...marks, ...released })
}
