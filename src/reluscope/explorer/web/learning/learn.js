// What a lesson needs: the panel in which a network is trained while it is looked at.
//
// A script of its own, before the explorer's module where there is a lesson.

import { lessonPanel } from "./lesson_panel.js";

globalThis.reluscopeLearn = { lessonPanel };
