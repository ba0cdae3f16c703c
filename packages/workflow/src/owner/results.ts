import type { JsonText } from '../adapter/new-item.ts'
import { settledText } from '../engine/base/settled-text.ts'
import type { OwnedRun, Payloads, StepRow, Store, StoredMail } from '../store/index.ts'
import type { Code } from './code.ts'

type Reading = Pick<Store, 'refusalOf' | 'claim' | 'take' | 'load' | 'mailOf'>
type CodeOf = (definition: number) => Promise<Code | undefined>

/** A store that reads with the mail of a child which has completed also what it has come to: nobody else needs that, so no mail carries it. */
export function withResults(store: Store, codeOf: CodeOf): Store {
  // Whatever refuses this read, the verb before it was done.
  const afterwards = new WeakSet<object>()
  const filled = async (runs: readonly OwnedRun[]): Promise<readonly OwnedRun[]> => {
    if (!runs.some(({ mail }) => mail.some(isOfCompleted))) return runs
    const all = runs.flatMap(({ mail }) => mail)
    const mails = await withResult(store, codeOf, all).catch((error: unknown) => {
      if (typeof error === 'object' && error !== null) afterwards.add(error)
      throw error
    })
    const bySequence = new Map(mails.map((each) => [each.sequence, each]))
    return runs.map((run) => ({ ...run, mail: run.mail.map(({ sequence }) => bySequence.get(sequence)!) }))
  }
  const reading: Reading = {
    refusalOf: (error) => (afterwards.has(error as object) ? null : store.refusalOf(error)),
    async claim(identity, request) {
      const claimed = await store.claim(identity, request)
      return { ...claimed, runs: await filled(claimed.runs) }
    },
    take: async (identity, runs) => filled(await store.take(identity, runs)),
    load: async (worker, which) => filled(await store.load(worker, which)),
    async mailOf(worker, how) {
      const mails = await store.mailOf(worker, how)
      return mails.some(isOfCompleted) ? withResult(store, codeOf, mails) : mails
    },
  }
  return Object.assign(Object.create(store) as Store, reading)
}

const isOfCompleted = ({ event }: StoredMail): boolean => event?.includes('"ended":"completed"') === true

async function withResult<Mail extends StoredMail>(
  store: Store,
  codeOf: CodeOf,
  mails: readonly Mail[],
): Promise<readonly Mail[]> {
  const children = new Map(
    mails.filter(isOfCompleted).map(({ sequence, event }) => [sequence, childOf(event)]),
  )
  const results = await resultsOf(store, codeOf, [...new Set(children.values())])
  return mails.map((mail) => {
    const child = children.get(mail.sequence)
    return child === undefined ? mail : { ...mail, payload: results.get(child) ?? null }
  })
}

const childOf = (event: JsonText): string =>
  (JSON.parse(event!) as { readonly mail: { readonly child: string } }).mail.child

/** The outputs of runs that have completed, by step, as one JSON text each. */
async function resultsOf(
  store: Store,
  codeOf: CodeOf,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const runs = await store.peek(ids)
  const wanted = runs.flatMap(({ id, steps }) =>
    steps!.flatMap(({ no, scope }) => (scope === 0 ? [{ run: id, no }] : [])),
  )
  const payloads = new Map((await store.payloads(wanted)).map((each) => [`${each.run}:${each.no}`, each]))
  const results = new Map<string, string>()
  for (const { id, definition, steps } of runs) {
    const code = await codeOf(definition)
    const members = steps!.flatMap((step) => {
      const found = payloads.get(`${id}:${step.no}`)
      const text = found === undefined ? null : outputOf(step, found, code)
      return text === null ? [] : [`${JSON.stringify(step.name)}:${text}`]
    })
    results.set(id, `{${members.join(',')}}`)
  }
  return results
}

/** Of a definition whose root is a graph. */
interface Steps {
  readonly byName?: ReadonlyMap<string, { readonly onFailure?: 'continue' }>
}

function outputOf({ name, status }: StepRow, { output, error }: Payloads, code: Code | undefined): JsonText {
  const { byName } = (code?.spec ?? {}) as Steps
  const mayFail = byName?.get(name!)?.onFailure === 'continue'
  return mayFail ? settledText({ failed: status === 'failed', output, error }) : output
}
