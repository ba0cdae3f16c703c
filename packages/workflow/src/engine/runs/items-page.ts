import { type Adapter, ITEMS_MAX, type ItemsToRead, itemNumber } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import {
  anything,
  checkOptions,
  type Kind,
  name,
  type OptionTable,
  wholeNumber,
} from '../../options/index.ts'
import { openersByMap } from './map-state.ts'
import type { RunReading } from './read-run.ts'
import { unknownStep } from './unknown-step.ts'

/** Which items of maps a read of a run includes. */
export interface ItemsPage {
  /** Only items of this map. Default: of all maps, in the order of the graph. */
  readonly of?: string | undefined
  /** Only with `of`: items after the one with this index. Default: from the first on. */
  readonly after?: number | undefined
  /** 0 to 10,000; default 1,000. */
  readonly limit?: number | undefined
}

const OPTIONS = {
  of: { sets: 'the map whose items are read', takes: name },
  after: { sets: 'the index of the last item of the previous page', takes: wholeNumber(0, ITEMS_MAX - 1) },
  limit: { sets: 'how many items are read at most', takes: wholeNumber(0, 10_000), default: 1_000 },
} satisfies OptionTable

const READ_OPTIONS = {
  items: { sets: 'which items of maps are read', takes: anything as Kind<ItemsPage> },
} satisfies OptionTable

/** Throws `invalid_option`. */
export function checkItemsPage(
  call: string,
  options: { readonly items?: ItemsPage | undefined },
): CheckedPage {
  const { items = {} } = checkOptions(call, options, READ_OPTIONS)
  const page = checkOptions(`${call}: items`, items, OPTIONS)
  if (page.after === undefined || page.of !== undefined) return page
  throw new BelayError(
    'invalid_option',
    `${call}: after needs of, the name of the map whose items are counted.`,
  )
}

type CheckedPage = ItemsPage & { readonly limit: number }

/** Reads a run with a page of items. Throws `invalid_option` if it names no map of the run. */
export async function readPage({ adapter, registry }: RunReading, runId: string, page: CheckedPage) {
  const found = await readItems(adapter, runId, page)
  return found === null ? null : { ...found, ...(await registry.marked(found.run.definitionId)) }
}

async function readItems(adapter: Adapter, runId: string, page: CheckedPage) {
  const { of } = page
  if (of === undefined) return adapter.readRun(runId, itemsToRead(page))
  const found = await adapter.readRun(runId, 'none')
  if (found === null) return null
  const openers = openersByMap(found.steps)
  const opener = openers.get(of)
  if (opener === undefined) throw unknownStep(found.run, [...openers.keys()], of)
  return adapter.readRun(runId, itemsToRead(page, opener))
}

/** `opener`: the number of the step that decides the items of the map that the page names; undefined if it names none. */
function itemsToRead({ after, limit }: CheckedPage, opener?: number): ItemsToRead {
  if (opener === undefined) return { after: 0, before: ITEM_NUMBER_MAX, limit }
  return { after: itemNumber(opener, after ?? -1), before: itemNumber(opener + 1, 0), limit }
}

/** Stores keep numbers of rows as 32-bit integers. */
const ITEM_NUMBER_MAX = 2_147_483_647
