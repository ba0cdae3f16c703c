import { memory } from '@belay/testing'
import { createEngine, defineGraph } from '@belay/workflow'

// This could come from a file, a database or an editor in a browser.
const graph = JSON.parse(`{
  "steps": {
    "resize":    { "handler": "resizeImage", "retries": 1, "compensate": "deleteImages" },
    "watermark": { "handler": "addWatermark" },
    "describe":  { "handler": "describeImage", "timeout": "10s" },
    "publish":   { "handler": "publishImage", "compensate": "unpublishImage" }
  },
  "dag": {
    "watermark": ["resize"],
    "publish":   ["watermark", "describe"]
  }
}`)

const publishImage = defineGraph('publish-image', graph, {
  resizeImage: () => ['small.png', 'large.png'],
  addWatermark: ({ deps }) => deps['resize'],
  describeImage: () => 'A climber on a wall',
  publishImage: ({ deps }) => `${deps['describe']}: ${deps['watermark']}`,
  deleteImages: () => console.log('images deleted'),
  unpublishImage: () => console.log('image unpublished'),
})

console.log(publishImage.toMermaid())

const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [publishImage] })
await engine.start()
const run = await engine.run(publishImage, { image: 'climber.png' })
const outputs = await run.result()
console.log(outputs['publish'])
await engine.close()
