import type { JsonText } from '../adapter/new-item.ts'
import { pause } from '../engine/base/runtime.ts'
import type { Answered } from '../machine/index.ts'
import type { Mail, Sent } from '../store/index.ts'
import { soon } from './soon.ts'
import type { Worker } from './worker.ts'

/** What became of mail. `duplicate`: it had come before, with this payload. */
export type Delivered =
  | { readonly result: 'applied'; readonly answer: Answered | 'too late' }
  | { readonly result: 'duplicate'; readonly answer: Answered | 'too late'; readonly payload: JsonText }
  | { readonly result: 'ended' }
  | { readonly result: 'unknown' }

export interface Delivery {
  /**
   * An operator’s: what nobody owns is taken at once, also such runs as have ended. Otherwise a worker is to claim it, which has the code to go on with
   * it, unless none does for a while.
   */
  readonly operates: boolean
}

const POLL_MS = 2
const POLL_MAX_MS = 50
/** How long a worker may take to claim a run that has mail. */
const PATIENCE_MS = 500
/** While time stands still, it has so many turns of the event loop for that. */
const PATIENCE_TURNS = 50
const PATIENCE_ROUNDS = 3

type Stored = Extract<Sent, { readonly sequence: number }>

/** Sends mail, and waits until whoever owns the runs has answered. Mail under a key that was sent before is not applied again. */
export async function deliver(
  owner: Worker,
  mail: readonly Mail[],
  { operates }: Delivery,
): Promise<readonly Delivered[]> {
  const { store } = owner
  const sent = await store.send(operates ? mail.map((each) => ({ ...each, reopens: true })) : mail)
  const answers = new Map<number, JsonText>()
  const stored = sent.flatMap((each, place) =>
    'sequence' in each ? [{ ...each, run: mail[place]!.run }] : [],
  )
  for (const each of stored)
    if (each.result === 'duplicate' && each.answer !== null) answers.set(each.sequence, each.answer)
  await applied(owner, stored, answers, operates)
  return sent.map((each): Delivered => {
    if (!('sequence' in each)) return each
    const answer = answerOf(answers.get(each.sequence)!)
    return each.result === 'sent'
      ? { result: 'applied', answer }
      : { result: 'duplicate', answer, payload: each.payload }
  })
}

/** Of what an answer says nothing, no text is stored. */
const answerOf = (text: JsonText): Answered | 'too late' =>
  text === null ? undefined : (JSON.parse(text) as Answered | 'too late')

async function applied(
  owner: Worker,
  stored: readonly (Stored & { readonly run: string })[],
  answers: Map<number, JsonText>,
  operates: boolean,
): Promise<void> {
  const { clock, identity, intake, isVirtual, post, store } = owner
  let open = stored.filter(({ sequence }) => !answers.has(sequence))
  if (open.length === 0) return
  const owners = new Set(open.map((each) => (each.result === 'sent' ? each.owner : null)))
  if (owners.delete(identity.worker)) post.read('hinted').catch(() => {})
  const isUnowned = owners.delete(null)
  for (const worker of owners) owner.hint({ worker: worker! })
  if (isUnowned && operates) await intake.take([...new Set(open.map(({ run }) => run))])
  else if (isUnowned) owner.hint({ definitions: [] })
  let taken = clock.now()
  let turns = 0
  let rounds = 0
  for (let pollMs = POLL_MS; ; pollMs = Math.min(pollMs * 1.5, POLL_MAX_MS)) {
    for (const [sequence, answer] of await store.answers(open.map(({ sequence }) => sequence)))
      answers.set(sequence, answer)
    open = open.filter(({ sequence }) => !answers.has(sequence))
    if (open.length === 0) return
    if (isVirtual && turns < PATIENCE_TURNS) {
      turns += 1
      await new Promise<void>((resolve) => soon(resolve))
      if (turns < PATIENCE_TURNS) continue
    } else {
      await pause(clock, pollMs)
      if (clock.now() - taken < PATIENCE_MS) continue
    }
    // Whoever owned it may be gone meanwhile, and no worker alive.
    taken = clock.now()
    if (rounds < PATIENCE_ROUNDS) turns = 0
    rounds += 1
    await intake.take([...new Set(open.map(({ run }) => run))])
  }
}
