import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { drawTimeline, fileStyle, svgText } from '../src/index.ts'
import { undone } from './runs.ts'

const picture = fileURLToPath(new URL('../../../docs/images/rollback.svg', import.meta.url))

// Written by `npx vitest run packages/graph-view/test/pictures.test.ts --update=all`.
it('the picture of the README is what the dashboard draws', async () => {
  const timeline = svgText(drawTimeline(undone, { width: 900 }), {
    style: fileStyle,
    label:
      'Timeline of an order that failed: six steps forward, and beneath them their undo in reverse order',
  })
  await expect(timeline).toMatchFileSnapshot(picture)
})
