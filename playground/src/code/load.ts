import type { Play } from '../play.ts'
import { isPlay } from './is-play.ts'

/** Runs the reader's code, once in each thread. Throws what it throws, or what is wrong with its default export. */
export async function load(code: string): Promise<Play> {
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
  try {
    const { default: play } = (await import(/* @vite-ignore */ url)) as { readonly default?: unknown }
    if (isPlay(play)) return play
    throw new Error('End with export default play({ workflows: […], start: (engine, number) => … }).')
  } finally {
    URL.revokeObjectURL(url)
  }
}
