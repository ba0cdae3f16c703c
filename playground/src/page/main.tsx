import { render } from 'preact'
import { Screen } from './screen.tsx'

render(<Screen />, document.getElementById('root')!)
