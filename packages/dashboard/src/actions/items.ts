import { type ActionOptions, BelayError, type Engine, type StepExplanation } from '@belay/workflow'
import type { ItemResult, ItemsRequest, ItemVerb } from '../api/maps.ts'
import { badRequest, withoutCredentials } from '../problem.ts'
import { isItemVerb, offersIn } from '../view/item-errors.ts'
import { fieldsOf, jsonIn, reasonIn, stepIn } from './request.ts'

const ITEMS_MAX = 1_000
const KEY_MAX = 600
/** Each action locks all rows of its run: a large map would hold a request for minutes. */
const WORK_MS = 1_000

/** What a body asks for. Throws `RequestError` with status 400. */
export function itemsRequestIn(body: unknown): ItemsRequest {
  const given = fieldsOf(body)
  const { verb, dryRun, reason, items, payload } = given
  if (!isItemVerb(verb)) {
    throw badRequest('verb is retryStep, skipStep, retryCompensation or skipCompensation.')
  }
  const taken = ['map', 'verb', 'items', 'dryRun', 'reason', ...(verb === 'skipStep' ? ['payload'] : [])]
  const other = Object.keys(given).find((name) => !taken.includes(name))
  if (other !== undefined) throw badRequest(`${verb} takes ${taken.join(', ')}.`)
  if (typeof dryRun !== 'boolean') throw badRequest('dryRun is true or false.')
  return {
    ...{ verb, dryRun, map: stepIn(given['map']), items: keysIn(items) },
    ...reasonIn(reason, dryRun),
    ...(payload === undefined ? {} : { payload: jsonIn(payload) }),
  }
}

function keysIn(items: unknown): readonly string[] {
  const areKeys =
    Array.isArray(items) &&
    items.length > 0 &&
    items.length <= ITEMS_MAX &&
    items.every((key) => typeof key === 'string' && key.length <= KEY_MAX)
  if (areKeys && new Set(items).size === items.length) return items as readonly string[]
  throw badRequest(`items is a list of the keys of 1 to ${ITEMS_MAX} items, each once.`)
}

/** What the engine offers for them now. It may take more than it offers, which is told. */
export async function foreseeItems(
  engine: Engine,
  runId: string,
  asked: ItemsRequest,
): Promise<ItemResult[]> {
  const { map, verb, items } = asked
  const explanation = await engine.explain(runId, { itemsMax: ITEMS_MAX })
  const offers = offersIn(explanation)
  const open = new Map(explanation.steps.map((step) => [step.step, step]))
  return items.map((key) => {
    const name = nameOf(map, key)
    if (offers.get(name)?.has(verb) === true) return { changed: true }
    return { changed: false, why: whyNot(open.get(name)) }
  })
}

function whyNot(open: StepExplanation | undefined): string {
  const state = open === undefined ? 'not open, or one of too many that are' : `open (${open.reason})`
  return `not offered by the engine now: ${state}. It decides once it is done for real.`
}

/** Acts on one item after the other, for about a second. A refusal is the item's result; what else fails ends the work, and is thrown if nothing was done. */
export async function actOnItems(
  engine: Engine,
  runId: string,
  asked: ItemsRequest,
  who: ActionOptions & { readonly by: string },
): Promise<ItemResult[]> {
  const { map, verb, items, payload } = asked
  const output: unknown = payload === undefined ? undefined : JSON.parse(payload)
  const run = engine.runs.handle(runId)
  const acts: Readonly<Record<ItemVerb, (step: string) => Promise<unknown>>> = {
    retryStep: (step) => run.retryStep(step, who),
    skipStep: (step) => run.skipStep(step, { ...who, output }),
    retryCompensation: (step) => run.retryCompensation(step, who),
    skipCompensation: (step) => run.skipCompensation(step, who),
  }
  const results: ItemResult[] = []
  const until = performance.now() + WORK_MS
  for (const key of items) {
    if (results.length > 0 && performance.now() > until) break
    try {
      await acts[verb](nameOf(map, key))
      results.push({ changed: true })
    } catch (error) {
      if (BelayError.is(error) && REFUSALS.has(error.code)) results.push(refused(error))
      else if (results.length === 0) throw error
      else break
    }
  }
  return results
}

/** `invalid_option`: the run has no such item. */
const REFUSALS: ReadonlySet<string> = new Set(['action_refused', 'invalid_input', 'invalid_option'])

/** Without the item, so that the same reason reads the same. */
function refused({ code, message, refusal, remedy }: BelayError): ItemResult {
  if (code === 'invalid_option') return { changed: false, why: 'no item of this run.' }
  const why = refusal === undefined ? message : [refusal, remedy ?? []].flat().join(' ')
  return { changed: false, why: withoutCredentials(why) }
}

function nameOf(map: string, key: string): string {
  return `${map}[${key}]`
}
