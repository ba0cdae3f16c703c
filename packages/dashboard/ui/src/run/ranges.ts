import type { FailingItem } from '../../../src/api/maps.ts'

const RANGES_MAX = 12

/** `importCity[44–51], [203] and 4 more`: items that follow each other are one range, told by their keys. */
export function rangesOf(map: string, items: readonly FailingItem[]): string {
  const ranges: [FailingItem, FailingItem][] = []
  for (const item of items) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1].index === item.index - 1) last[1] = item
    else ranges.push([item, item])
  }
  const words = ranges.map(([from, to]) => (from === to ? `[${from.key}]` : `[${from.key}–${to.key}]`))
  const shown = words.slice(0, RANGES_MAX).join(', ')
  const left = ranges.slice(RANGES_MAX).reduce((sum, [from, to]) => sum + to.index - from.index + 1, 0)
  return `${map}${shown}${left === 0 ? '' : ` and ${left} more`}`
}
