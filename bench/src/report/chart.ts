import { digits, median } from './figures.ts'
import type { Bar } from './ledger.ts'

const WIDTH = 860
const LABEL_WIDTH = 330
const VALUE_WIDTH = 150
const BAR_HEIGHT = 18
const ROW_HEIGHT = 28
const GROUP_HEIGHT = 44
const CAPTION_HEIGHT = 20
const MARGIN = 16

// Each of these is legible on white and on near-black: the page behind the chart may be either.
const TEXT = '#767c85'
const BELAY = '#2f8f83'
const OTHERS = '#9a8f80'

/** Horizontal bars: steps per second as multiples of the reference. The thin line is the range of the rounds. */
export function renderChart(bars: readonly Bar[], caption: readonly string[]): string {
  const groups = grouped(bars)
  const longest = Math.max(...bars.flatMap((bar) => bar.ratios), Number.MIN_VALUE)
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH - 2 * MARGIN) / longest
  let y = MARGIN
  const parts: string[] = []
  for (const [group, members] of groups) {
    parts.push(text({ x: MARGIN, y: y + 24, content: group, weight: 'bold' }))
    y += GROUP_HEIGHT
    for (const bar of members) {
      parts.push(renderBar(bar, { y, scale }))
      y += ROW_HEIGHT
    }
  }
  for (const line of caption) {
    y += CAPTION_HEIGHT
    parts.push(text({ x: MARGIN, y, content: line, size: 12 }))
  }
  const height = y + MARGIN
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Steps per second as multiples of the reference" font-family="system-ui, sans-serif">
${parts.join('\n')}
</svg>
`
}

function renderBar({ label, ratios, isBelay }: Bar, { y, scale }: { y: number; scale: number }): string {
  const x = LABEL_WIDTH + MARGIN
  const middle = median(ratios)
  const [least, most] = [Math.min(...ratios) * scale, Math.max(...ratios) * scale]
  const centre = y + BAR_HEIGHT / 2
  return [
    text({ x: x - 10, y: centre + 5, content: label, anchor: 'end' }),
    `<rect x="${x}" y="${y}" width="${length(middle * scale)}" height="${BAR_HEIGHT}" rx="3" fill="${isBelay ? BELAY : OTHERS}"/>`,
    `<line x1="${length(x + least)}" x2="${length(x + most)}" y1="${centre}" y2="${centre}" stroke="${TEXT}" stroke-width="2"/>`,
    text({ x: x + Math.max(most, middle * scale) + 8, y: centre + 5, content: `${digits(middle)} ×` }),
  ].join('\n')
}

function text(given: {
  x: number
  y: number
  content: string
  size?: number
  weight?: 'bold'
  anchor?: 'end'
}): string {
  const { x, y, content, size = 14, weight, anchor } = given
  const extra = `${weight ? ` font-weight="${weight}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''}`
  return `<text x="${length(x)}" y="${y}" font-size="${size}" fill="${TEXT}"${extra}>${escapeXml(content)}</text>`
}

function grouped(bars: readonly Bar[]): ReadonlyMap<string, readonly Bar[]> {
  const groups = new Map<string, Bar[]>()
  for (const bar of bars) groups.set(bar.group, [...(groups.get(bar.group) ?? []), bar])
  return groups
}

function length(value: number): string {
  return value.toFixed(1)
}

function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
