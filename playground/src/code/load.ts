import type { Play } from '../play.ts'
import { isPlay } from './is-play.ts'

/** Runs the reader's code, once in each thread. Throws what it throws, or what is wrong with its default export. */
export async function load(code: string): Promise<Play> {
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
  try {
    const { default: play } = (await import(/* @vite-ignore */ url)) as { readonly default?: unknown }
    if (isPlay(play)) return play
    throw new Error('End with export default play({ workflows: […], start: (engine, number) => … }).')
  } catch (error) {
    throw placed(error, url)
  } finally {
    URL.revokeObjectURL(url)
  }
}

/** With the line of the reader's code from which it came, if its stack names one. Types are stripped in place, so the lines are the reader's. */
function placed(error: unknown, url: string): unknown {
  if (!(error instanceof Error)) return error
  const [, after] = error.stack?.split(`${url}:`) ?? []
  return after === undefined ? error : Object.assign(error, { line: Number.parseInt(after, 10) })
}
