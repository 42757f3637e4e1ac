// What needs somebody to ask: the panels of samples, lines, codes and trainings.
//
// A script of its own, before the explorer's module on pages and in notebooks; a snapshot, which has nobody to ask, does
// without.

import { codesPanel } from "./panels/codes.js";
import { linePanel } from "./panels/line.js";
import { samplesPanel } from "./panels/samples.js";
import { trainingPanel } from "./panels/training.js";

globalThis.reluscopeLive = { codesPanel, linePanel, samplesPanel, trainingPanel };
