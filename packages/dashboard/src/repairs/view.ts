import { participleOf } from '@belay/graph-view'
import type { BulkRefusal, Engine } from '@belay/workflow'
import type { Repair, RepairsPage, Tally } from '../api/many.ts'
import type { RunLink } from '../api.ts'
import { withoutCredentials } from '../problem.ts'
import type { Call, Served } from '../served.ts'
import type { RepairInHand } from './in-hand.ts'
import type { Repairs } from './repairs.ts'
import { capabilityOf } from './request.ts'
import { figure, runs } from './words.ts'

const GROUPS_SHOWN = 20
const SHOWN_OF_GROUP = 5
/** A link costs a read of its own. */
const LINKS_FRESH_MS = 5_000

export function listedRepair(repair: RepairInHand): RepairsPage['repairs'][number] {
  const { id, state, by, at, begun, found, done } = repair
  // A list of ids may be long.
  const { runs: _, ...asked } = repair.asked
  return { ...{ id, asked, state, by, at, begun, found, done }, sentence: sentenceOf(repair) }
}

export async function viewOfRepair(
  served: Served,
  call: Call,
  { repairs, repair }: { readonly repairs: Repairs; readonly repair: RepairInHand },
): Promise<Repair> {
  const { id, state, asked, endedAt, more } = repair
  const groups = repair.refusals.slice(0, GROUPS_SHOWN)
  const ids = [...repair.shown, ...groups.flatMap((one) => [...firstOf(one.runIds), ...firstOf(one.instead)])]
  const read = () => linksOf(served.engine, ids)
  // What a repair has come to is told also while the store is silent.
  const links = await served.read(call, `repair ${id} ${state}`, read, LINKS_FRESH_MS).catch(() => NO_LINKS)
  const linked = (some: readonly string[]) => some.flatMap((one) => links.get(one) ?? [])
  return {
    ...listedRepair(repair),
    ...{ asked, endedAt, more },
    runs: linked(repair.shown),
    refusals: groups.map(({ runIds, instead, ...refusal }) => ({
      why: reasonOf(refusal, call.env.can.has('payloads.read')),
      count: runIds.length,
      runs: linked(firstOf(runIds)),
      instead: linked(firstOf(instead)),
    })),
    instead: repair.instead.length,
    others: repairs.besides(repair),
    denied: !call.env.can.has(capabilityOf(asked.verb)),
  }
}

/** After a count: a sentence of the engine without its subject; or an error. One without a code may quote rows. */
function reasonOf(
  { why, refusal, remedy, code }: Pick<BulkRefusal, 'why' | 'refusal' | 'remedy' | 'code'>,
  mayRead: boolean,
): string {
  if (refusal !== undefined) return withoutCredentials([refusal, remedy ?? []].flat().join(' '))
  const isSentence = code !== undefined && !code.startsWith('store_')
  const told = withoutCredentials(why)
  if (isSentence) return told
  return code === undefined && !mayRead
    ? 'could not be read or changed, because of an error that you may not see: you lack payloads.read.'
    : `could not be read or changed: “${told}”.`
}

const NO_LINKS: ReadonlyMap<string, RunLink> = new Map()

function firstOf(ids: readonly string[]): readonly string[] {
  return ids.slice(0, SHOWN_OF_GROUP)
}

async function linksOf(engine: Engine, ids: readonly string[]): Promise<ReadonlyMap<string, RunLink>> {
  const links = new Map<string, RunLink>()
  for (const id of new Set(ids)) {
    const [run] = await engine.runs.list({ idPrefix: id, limit: 1 })
    if (run === undefined) continue
    const { workflow, key, status } = run
    links.set(id, { id, workflow, key, status })
  }
  return links
}

function sentenceOf(repair: RepairInHand): string {
  const { state, found, done, begun, trouble, stoppedBy } = repair
  const who = stoppedBy === undefined ? '' : ` by ${stoppedBy}`
  switch (state) {
    case 'counting':
      return `The dry run is under way: ${runs(found.matched)} so far.`
    case 'counted':
      return `${outcome(repair, found, 'would be')} Nothing has been changed.`
    case 'working':
      return `${begun!.by} is changing ${runs(found.changed)}: ${figure(done!.matched)} so far.`
    case 'done':
      return outcome(repair, done!, 'were')
    case 'stopped':
      return done === undefined
        ? `The dry run was stopped${who}. Nothing has been changed.`
        : `Stopped${who}. ${outcome(repair, done, 'were')} ${leftOf(repair, done)}`
    case 'failed':
      return done === undefined
        ? `The dry run failed: ${trouble} Nothing has been changed.`
        : `It ended early: ${trouble} ${outcome(repair, done, 'were')} One more may have been changed as it ended. Count again for the rest.`
  }
}

function outcome({ asked }: RepairInHand, tally: Tally, verb: 'were' | 'would be'): string {
  const { matched, changed, refused, unknown } = tally
  const same = matched - changed - refused
  const would = verb === 'were' ? '' : ' would be'
  return [
    `${runs(changed)} ${verb === 'were' && changed === 1 ? 'was' : verb} ${participleOf(asked)}`,
    ...(refused === 0 ? [] : [`${figure(refused)}${would} refused`]),
    ...(same === 0 ? [] : [`${figure(same)} had nothing to change`]),
    ...(unknown === 0 ? [] : [`${figure(unknown)} do not exist`]),
  ]
    .join(', ')
    .concat('.')
}

function leftOf({ found }: RepairInHand, { matched, unknown }: Tally): string {
  const left = found.changed - matched - unknown
  return left === 1 ? '1 is as before.' : `${figure(left)} are as before.`
}
