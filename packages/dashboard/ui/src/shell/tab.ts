import { useEffect } from 'preact/hooks'
import type { Overview } from '../../../src/api.ts'
import { needed } from '../screens.ts'
import { cell, useCell } from '../stored.ts'
import { capped } from '../words.ts'

/** The screen, or the run, that is shown. */
export const here = cell('Runs')

/** Title and icon of the browser's tab: they say how much needs a person, also while another tab is looked at. */
export function useTab(overview: Overview | undefined, title = 'Belay'): void {
  const place = useCell(here)
  const count = overview && needed(overview)
  const words = count === undefined || count.count === 0 ? '' : `(${capped(count)}) `
  useEffect(() => {
    document.title = `${words}${place} · ${title}`
  }, [words, place, title])
  useEffect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', iconOf(words !== ''))
  }, [words !== ''])
}

const MARK = 'M2 4h9a3 3 0 0 1 0 6H7a3 3 0 0 0 0 6h9M4.5 1.5L2 4l2.5 2.5'

/** A browser draws it on light and on dark ground. */
function iconOf(isNeeded: boolean): string {
  const dot = isNeeded ? '<circle cx="14" cy="4" r="3.6" fill="#d0187f"/>' : ''
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 20 20"><path d="${MARK}" fill="none" stroke="#7d848c" stroke-width="2.2" stroke-linecap="round"/>${dot}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
