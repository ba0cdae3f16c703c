import type { Preset } from '../presets/index.ts'

const keyOf = ({ name }: Preset) => `belay.playground.code.${name}`

/** The code of that example as the reader has left it in this browser. */
export function keptCode(preset: Preset): string {
  try {
    return localStorage.getItem(keyOf(preset)) ?? preset.code
  } catch {
    return preset.code
  }
}

export function keepCode(preset: Preset, source: string): void {
  // Storage may be switched off: the code then lasts as long as the page.
  try {
    if (source === preset.code) localStorage.removeItem(keyOf(preset))
    else localStorage.setItem(keyOf(preset), source)
  } catch {}
}
