import { join } from 'node:path'
import type { RunSnapshot } from '@belay/workflow'
import type { Outcome, Part, Players } from '../demonstration/part.ts'
import { currentShowing } from '../demonstration/showing.ts'
import { showSql } from '../demonstration/sql-rows.ts'
import type { Stage } from '../demonstration/stage.ts'
import { Checklist } from '../terminal/checklist.ts'
import { LinesWithoutItems } from '../terminal/lines-without-items.ts'
import { Galleries, heightOf, type Photo, WIDTHS } from './gallery/index.ts'
import { makeGallery } from './make-gallery.ts'
import { followItems } from './resize-progress.ts'

const PHOTOS = 8
const PICTURES = PHOTOS * WIDTHS.length

const STATES_SQL = `select split_part(name, '[', 1) as step, status, count(*)::int as rows, sum(losses)::int as losses
from belay.workflow_step_overview where run_id = $1 group by 1, 2 order by min(step)`

/** Makes a gallery of photographs, then another that may not be published and whose files are all removed. */
export function mediaPart(stage: Stage): Part {
  const galleries = new Galleries(join(stage.filesFolder, 'galleries'), { latencyMs: stage.paceMs })
  const workflow = makeGallery(galleries)
  const maker = ({ engine, player }: Players): Maker => ({
    async make(gallery, photos) {
      const run = await engine.run(workflow, { gallery, photos: [...photos] }, { key: gallery })
      const shown = player.follow(run, workflow, (screen) => new LinesWithoutItems(screen))
      const [ended] = await Promise.all([shown, followItems(stage.screen, run)])
      return ended
    },
  })
  return { workflow, concurrency: 20, show: (players) => showGalleries(stage, galleries, maker(players)) }
}

interface Maker {
  make(gallery: string, photos: readonly Photo[]): Promise<RunSnapshot>
}

async function showGalleries(stage: Stage, galleries: Galleries, maker: Maker): Promise<Outcome> {
  const { database, screen } = stage
  const { id, finish } = await currentShowing(database, 'gallery', () => galleries.clear())
  const checklist = new Checklist(screen)
  const names = await galleries.takePhotos(PHOTOS)
  const photos = names.map((name) => ({ name, credit: 'Ada' }))

  screen.heading(`Gallery 1 of 2: ${PHOTOS} photographs in ${WIDTHS.length} sizes, and a contact sheet`)
  const online = `gallery-${id}-a`
  const published = await maker.make(online, photos)
  await showSql(stage, STATES_SQL, published.id)
  screen.print(`  Look at it: ${galleries.pathOf(`${online}/index.html`)}`)
  await checkPublished(checklist, galleries, { run: published, gallery: online })

  screen.heading('Gallery 2 of 2: one photograph does not say who took it, so every file is removed again')
  const refused = `gallery-${id}-b`
  const undone = await maker.make(
    refused,
    photos.map((photo, index) => (index === 0 ? { name: photo.name } : photo)),
  )
  await showSql(stage, STATES_SQL, undone.id)
  await checkRemoved(checklist, galleries, { run: undone, gallery: refused })

  return { kept: checklist.allKept, finish }
}

interface Made {
  readonly run: RunSnapshot
  readonly gallery: string
}

async function checkPublished(
  checklist: Checklist,
  galleries: Galleries,
  { run, gallery }: Made,
): Promise<void> {
  const files = await galleries.list(gallery)
  const pictures = files.filter((file) => file.startsWith('photo-'))
  const sizes = await Promise.all(pictures.map((file) => galleries.measure(`${gallery}/${file}`)))
  checklist.check('the run completed', { actual: run.status, expected: 'completed' })
  checklist.check(`the gallery has ${PICTURES} pictures, a contact sheet and a page, and nothing else`, {
    actual: [pictures.length, files.filter((file) => !pictures.includes(file))],
    expected: [PICTURES, ['contact-sheet.jpg', 'index.html']],
  })
  checklist.check('each picture has the size that its name says', {
    actual: sizes,
    expected: pictures
      .map((file) => Number(/(\d+)\.jpg$/.exec(file)![1]))
      .map((width) => [width, heightOf(width)]),
  })
  checklist.check('no file was written twice, even if this was killed half-way', {
    actual: twice(await filesThat(galleries, gallery, 'wrote')),
    expected: [],
  })
}

async function checkRemoved(
  checklist: Checklist,
  galleries: Galleries,
  { run, gallery }: Made,
): Promise<void> {
  const failed = run.cause?.type === 'step_failed' ? run.cause : undefined
  const removed = await filesThat(galleries, gallery, 'removed')
  checklist.check('the run failed at publish, without a second try, and was compensated', {
    actual: [run.status, failed?.step, failed?.error.name],
    expected: ['compensated', 'publish', 'PermanentError'],
  })
  checklist.check(`all ${PICTURES} pictures and the contact sheet had been made, and each was removed once`, {
    actual: [removed.length, twice(removed)],
    expected: [PICTURES + 1, []],
  })
  checklist.check('nothing is left of the gallery', { actual: await galleries.list(gallery), expected: [] })
}

async function filesThat(
  galleries: Galleries,
  gallery: string,
  happened: 'wrote' | 'removed',
): Promise<readonly string[]> {
  const lines = await galleries.ledger(gallery)
  return lines.filter(({ what }) => what === happened).map(({ file }) => file)
}

function twice(files: readonly string[]): readonly string[] {
  return files.filter((file, index) => files.indexOf(file) !== index)
}
