import { cell, stored } from './stored.ts'

export const theme = stored('theme', ['system', 'light', 'dark'])
export const density = stored('density', ['comfortable', 'compact'])
export const zone = stored('zone', ['local', 'UTC'])
export const keys = stored('keys', ['on', 'off'])

/** Nothing is read while it is paused. It does not outlive the tab: a page that stands still unnoticed is worse than one that reads. */
export const paused = cell(false)

/** Keeps theme and density on the root element, where the style sheet looks for them. */
export function applySettings(): void {
  const root = document.documentElement
  const apply = () => {
    if (theme.get() === 'system') delete root.dataset['theme']
    else root.dataset['theme'] = theme.get()
    root.dataset['density'] = density.get()
  }
  for (const setting of [theme, density]) setting.subscribe(apply)
  apply()
}
