import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import type { ActionResult } from '../../src/api.ts'
import { write } from './write.ts'

/** Something that is asked of the server twice: what it would do, and then to do it. Errors are answers, too. */
export function useAsked<
  Request extends { readonly dryRun: boolean },
  Result extends ActionResult = ActionResult,
>(path: string) {
  const [result, setResult] = useState<Result | ActionResult>()
  const [isDone, setDone] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const client = useQueryClient()
  const send = async (request: Request) => {
    setBusy(true)
    const outcome = await write<Result>(path, request).catch((error: Error): ActionResult => {
      return { changed: false, sentence: error.message, refused: 'error' }
    })
    setResult(outcome)
    setDone(!request.dryRun && outcome.refused === undefined)
    setBusy(false)
    if (!request.dryRun) await client.invalidateQueries()
  }
  return { result, isDone, isBusy, send, forget: () => setResult(undefined) }
}
