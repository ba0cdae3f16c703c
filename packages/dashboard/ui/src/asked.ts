import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'preact/hooks'
import type { ActionResult } from '../../src/api.ts'
import { write } from './write.ts'

/** Something that is asked of the server twice: what it would do, and then to do it. Errors are answers, too. */
export function useAsked<
  Request extends { readonly dryRun: boolean },
  Result extends ActionResult = ActionResult,
>(path: string) {
  const [result, setResult] = useState<Result | ActionResult>()
  const [isDone, setDone] = useState(false)
  const [busy, setBusy] = useState<'asking' | 'doing'>()
  const last = useRef<Promise<Result | ActionResult>>(undefined)
  const client = useQueryClient()
  // One after the other: whoever does it before it is known what that would do is neither ignored nor shown the older answer last.
  const send = async (request: Request) => {
    const before = last.current
    const answer = Promise.resolve(before)
      .then(() => write<Result>(path, request))
      .catch((error: Error): ActionResult => {
        return { changed: false, sentence: error.message, refused: 'error' }
      })
    last.current = answer
    setBusy(request.dryRun ? 'asking' : 'doing')
    const outcome = await answer
    setResult(outcome)
    setDone(!request.dryRun && outcome.refused === undefined)
    if (last.current === answer) setBusy(undefined)
    if (!request.dryRun) await client.invalidateQueries()
  }
  const [isBusy, isDoing] = [busy !== undefined, busy === 'doing']
  return { result, isDone, isBusy, isDoing, send, forget: () => setResult(undefined) }
}
