import type { Play } from '../play.ts'

export function isPlay(given: unknown): given is Play {
  const { workflows, start } = Object(given) as Partial<Play>
  return Array.isArray(workflows) && typeof start === 'function'
}
