import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { drawGraph, drawTimeline, fileStyle, svgText } from '../src/index.ts'
import { parked, undone } from './runs.ts'

const picture = (name: string) => fileURLToPath(new URL(`../../../docs/images/${name}.svg`, import.meta.url))

// Written by `npx vitest run packages/graph-view/test/pictures -u`.
it('the pictures of the docs are what the dashboard draws', async () => {
  const timeline = svgText(drawTimeline(undone, { width: 900 }), {
    style: fileStyle,
    label:
      'Timeline of an order that failed: six steps forward, and beneath them their undo in reverse order',
  })
  await expect(timeline).toMatchFileSnapshot(picture('rollback'))
  const stopped = svgText(drawTimeline(parked, { width: 900 }), {
    style: fileStyle,
    label: 'Timeline of an order whose undo is parked: the refund failed for good, and waits for a person',
  })
  await expect(stopped).toMatchFileSnapshot(picture('parked-undo'))
  const graph = svgText(drawGraph(parked), {
    style: fileStyle,
    label: 'Graph of the same order: the way taken, and the order of the undo',
  })
  await expect(graph).toMatchFileSnapshot(picture('graph-of-an-undo'))
})
