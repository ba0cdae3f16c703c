import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { PRESETS, type Preset } from '../presets/index.ts'
import { askedDatabase } from './afresh.ts'
import { keepCode, keptCode } from './code-kept.ts'
import { readFragment } from './code-link.ts'
import type { Playground } from './state.ts'

interface Open {
  readonly preset: Preset
  readonly source: string
  /** Changes when the source changes other than by typing. */
  readonly given: number
  /** What plays, or was to play and could not. */
  readonly played?: string | undefined
  /** What there is to say of the link by which the reader came. */
  readonly notice?: string | undefined
}

type Playable = Omit<Open, 'given'> & { readonly played: string }

export interface CodeChoice extends Open {
  /** The newest code is being loaded: until then what played before goes on. */
  readonly isLoading: boolean
  choose(preset: Preset): void
  edit(source: string): void
  play(): void
  /** The example's own code, in the editor and on the stage. */
  restore(): void
}

/** Which example is open, its code, and what of it plays. Begins with what the link says. */
export function useCodeChoice(playground: Playground): CodeChoice {
  const [open, setOpen] = useState<Open>({ preset: PRESETS[0], source: PRESETS[0].code, given: 0 })
  const [isLoading, setLoading] = useState(false)
  const opening = useMemo(() => playground.open(askedDatabase()), [])
  const { preset, source } = open
  // The state follows typing a moment later: who plays at once plays what was typed.
  const typed = useRef(source)
  const play = (next: Playable) => {
    typed.current = next.source
    setOpen(({ given }) => ({ ...next, given: given + 1 }))
    setLoading(true)
    void opening.then(() => playground.play(next.played)).then(() => setLoading(false))
  }
  useEffect(() => {
    const follow = async () => play(await linked(location.hash))
    void follow()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return {
    ...open,
    isLoading,
    choose(chosen) {
      play(unlinked(chosen, keptCode(chosen)))
    },
    edit(next) {
      typed.current = next
      setOpen((now) => ({ ...now, source: next }))
      keepCode(preset, next)
    },
    play: () => play({ preset, source: typed.current, played: typed.current }),
    restore() {
      keepCode(preset, preset.code)
      play(unlinked(preset, preset.code))
    },
  }
}

const FOREIGN = 'This code came with the link, and does not play yet: read it, then play it.'

async function linked(fragment: string): Promise<Playable> {
  try {
    const { preset, source } = (await readFragment(fragment)) ?? { preset: PRESETS[0], source: undefined }
    const own = keptCode(preset)
    // Code of somebody else's runs only once the reader has seen it.
    if (source !== undefined && source !== own)
      return { preset, source, played: preset.code, notice: FOREIGN }
    return { preset, source: own, played: own }
  } catch (error) {
    const [preset] = PRESETS
    return { preset, source: preset.code, played: preset.code, notice: (error as Error).message }
  }
}

/** The address says which example is open, so that a reload opens it again. Changing it so is no `hashchange`. */
function unlinked(preset: Preset, source: string): Playable {
  window.history.replaceState(null, '', `${location.pathname}${location.search}#preset=${preset.name}`)
  return { preset, source, played: source }
}
