import './site.css';
import icon from '../shared/icon.svg';
import icons from '../shared/icons.svg';
import { checkWhileTyping } from './check-while-typing.js';
import { copyButtons } from './copy-buttons.js';
import { preferences } from './preferences.js';
import { localTimes } from './local-times.js';

// The build puts both into its manifest, where the service finds them.
export const ASSETS = [icon, icons];

/* Every page of the site works without this script. */
copyButtons(document);
preferences(document);
localTimes(document);
checkWhileTyping(document);
