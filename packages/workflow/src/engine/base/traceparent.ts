import type { Logger } from '../../logger.ts'
import { type Kind, Refusal, readAs } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { watchAnswer } from '../../thenable.ts'

/** The trace context of a run's caller is stored as a tag of the run: it needs no column, and what is not traced has none. */
const TAG = 'traceparent:'
/** W3C Trace Context forbids version ff, and ids that are all zero. */
const FORMAT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The trace context of a caller, as the W3C writes it. */
export const traceparent: Kind<string> = {
  words: 'a W3C traceparent like "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"',
  read: (given) => (typeof given === 'string' && FORMAT.test(given) ? given : new Refusal(shown(given))),
}

/** The tags with a trace context, which does not count towards their number. A tag that the caller made of one stays the only one. */
export function withTraceparent(
  tags: readonly string[] = [],
  traceparent: string | undefined,
): readonly string[] {
  if (traceparent === undefined || traceparentIn(tags) !== undefined) return tags
  return [...tags, `${TAG}${traceparent}`]
}

/** The trace context among the tags of a run. */
export function traceparentIn(tags: readonly string[]): string | undefined {
  const tag = tags.find((tag) => tag.startsWith(TAG) && FORMAT.test(tag.slice(TAG.length)))
  return tag?.slice(TAG.length)
}

/** Asks the user's function for the caller's trace context. No start fails for it: what is wrong with it is logged once, and the run has none. */
export function callersTraceparent(given: () => unknown, log: Logger): () => string | undefined {
  let isTold = false
  const failed = (why: object) => {
    if (!isTold) log.error('The traceparent of createEngine() failed. Runs start without it.', { ...why })
    isTold = true
  }
  return () => {
    try {
      const answer = given()
      if (answer === undefined) return undefined
      const read = readAs(traceparent, answer)
      if (!Refusal.is(read)) return read
      watchAnswer(answer)
      failed({ expected: traceparent.words, got: read.got })
    } catch (error) {
      failed({ error })
    }
    return undefined
  }
}
