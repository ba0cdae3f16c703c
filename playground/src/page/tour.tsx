import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { stored, useCell } from '../../../packages/dashboard/ui/src/stored.ts'
import type { Preset } from '../presets/index.ts'
import type { State } from './model.ts'
import { nextIndex, TOUR, type TourStep } from './tour-steps.ts'

const offer = stored('playground-tour', ['new', 'known'])

interface Place {
  readonly index: number
  readonly since: number
  readonly before: string | undefined
}

export interface Tour {
  /** Undefined while there is no tour. */
  readonly index: number | undefined
  readonly step: TourStep | undefined
  readonly begin: () => void
  readonly leave: () => void
}

/** The tour goes on by itself when the reader did what it asked for. */
export function useTour({ state, preset }: { readonly state: State; readonly preset: Preset }): Tour {
  const [place, setPlace] = useState<Place>()
  const go = (index: number) => setPlace({ index, since: Date.now(), before: state.selected })
  const step = place === undefined ? undefined : TOUR[place.index]
  useEffect(() => {
    if (place === undefined) return
    const index = nextIndex(place.index, { ...place, state, preset: preset.name })
    if (index !== place.index) go(index)
  })
  usePointer(step, state)
  const leave = () => {
    setPlace(undefined)
    offer.set('known')
  }
  useEscape(place !== undefined, leave)
  const begin = () => {
    offer.set('known')
    go(0)
  }
  return { index: place?.index, step, begin, leave }
}

/** Outlines what to press, and moves the focus there once for each step. */
function usePointer(step: TourStep | undefined, state: State): void {
  const pointed = useRef<{ step?: TourStep | undefined; element?: HTMLElement | undefined }>({})
  // With the sentence, not after it: a key that is pressed at once meets what the sentence says.
  useLayoutEffect(() => {
    const { step: stepBefore, element: before } = pointed.current
    const element = shownElement(step?.target?.(state))
    if (element === before && (element === undefined || step === stepBefore)) return
    before?.removeAttribute('data-here')
    before?.removeAttribute('aria-describedby')
    element?.setAttribute('data-here', '')
    if (element === undefined || step?.isWatched === true) {
      pointed.current = { element }
      return
    }
    element.setAttribute('aria-describedby', 'tour-sentence')
    const active = document.activeElement
    if (step !== stepBefore || active === before || active === document.body) element.focus()
    pointed.current = { step, element }
  })
}

/** Where it is shown: some stand in the header of a wide page and in the bar of a narrow one. */
function shownElement(selector: string | undefined): HTMLElement | undefined {
  if (selector === undefined) return undefined
  return [...document.querySelectorAll<HTMLElement>(selector)].find((element) => element.checkVisibility())
}

function useEscape(isOn: boolean, leave: () => void): void {
  // With the sentence: a key that is pressed between the two would be for the step before.
  useLayoutEffect(() => {
    if (!isOn) return
    const listen = ({ key }: KeyboardEvent) => {
      if (key === 'Escape' && document.querySelector('dialog[open]') === null) leave()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [isOn])
}

/** One sentence at a time. To who was never here, the tour is offered. */
export function TourPanel({ tour: { index, step, begin, leave } }: { readonly tour: Tour }) {
  const isNew = useCell(offer) === 'new'
  if (step === undefined || index === undefined)
    return isNew ? (
      <section class="tour" aria-label="Tour">
        <p>A tour of one minute shows a crash, an undo, and an undo that waits for a person.</p>
        <button type="button" class="button main" onClick={begin}>
          Take the tour
        </button>
        <button type="button" class="button" onClick={leave}>
          No, thank you
        </button>
      </section>
    ) : null
  const isLast = index === TOUR.length - 1
  return (
    <section class="tour" aria-label="Tour">
      <span class="weak">
        {index + 1} of {TOUR.length}
      </span>
      <p id="tour-sentence">{step.sentence}</p>
      <button type="button" class="button" onClick={leave}>
        {isLast ? 'Done' : 'Leave the tour'}
      </button>
      {!isLast && <kbd>Esc</kbd>}
    </section>
  )
}
