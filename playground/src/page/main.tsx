import { options, render } from 'preact'
import { listenToKeys } from '../../../packages/dashboard/ui/src/keys.ts'
import { applySettings } from '../../../packages/dashboard/ui/src/settings.ts'
import { Screen } from './screen.tsx'

// Thousands of steps a second tell of themselves: the page is drawn once for each picture of the display.
options.debounceRendering = requestAnimationFrame

applySettings()
listenToKeys()
render(<Screen />, document.getElementById('root')!)
